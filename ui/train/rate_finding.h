#pragma once
#include <QJsonObject>
#include <QString>
#include <optional>
#include <vector>

namespace lockstep::ui {

// What `lockstep find-rate --json --events` has said so far.
class RateFinding {
public:
    struct Point {
        double rate = 0, loss = 0, smoothed = 0;
    };

    void take(const QJsonObject& line);
    const std::vector<Point>& points() const { return m_points; }  // but for that at which it blew up
    qint64 tested() const { return m_tested; }                     // updates
    qint64 updates() const { return m_updates; }                   // at most; 0: not known yet

    std::optional<double> suggested() const { return m_suggested; }  // for the form's field
    std::optional<double> steepestAt() const { return m_steepestAt; }
    std::optional<double> blewUpAt() const { return m_blewUpAt; }
    bool isScaled() const;  // a rule of the form makes the rate of training from that of the field

    QString text() const;  // in sentences; empty: there is no suggestion

private:
    void takeEvent(const QJsonObject& event);

    std::vector<Point> m_points;
    qint64 m_tested = 0, m_updates = 0;
    std::optional<double> m_suggested, m_steepestAt, m_lowestAt, m_blewUpAt;
};

QString learningRateText(double rate);  // "0.03", "1e-6": two digits

}  // namespace lockstep::ui
