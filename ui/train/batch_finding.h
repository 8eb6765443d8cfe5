#pragma once
#include <QJsonObject>
#include <QString>
#include <vector>

namespace lockstep::ui {

// What `lockstep find-batch --json --events` has said so far.
class BatchFinding {
public:
    struct Speed {
        qint64 batch = 0;
        double samplesPerSecond = 0;
    };

    void take(const QJsonObject& line);
    const std::vector<Speed>& speeds() const { return m_speeds; }
    qint64 most() const { return m_most; }            // batches to time, at most; 0: not planned yet
    qint64 largest() const { return m_largest; }      // that fits; 0: not planned yet
    qint64 suggested() const { return m_suggested; }  // 0: none yet

    QString text() const;                          // in sentences; empty: there is no suggestion
    QString textOf(const QString& devices) const;  // in one line, beside those of other devices
    QString largestText() const;                   // in a sentence; empty: not planned yet

private:
    double speedOfSuggested() const;

    std::vector<Speed> m_speeds;
    qint64 m_most = 0, m_largest = 0, m_suggested = 0;
    bool m_fitsAll = false;
    QString m_perDevice;
};

}  // namespace lockstep::ui
