#pragma once
#include <QWidget>
#include <cstdint>

namespace lockstep::ui {

// What has become of a sweep's trials, as one bar: finished, failed, running, and those to come.
class SweepBar : public QWidget {
    Q_OBJECT
public:
    explicit SweepBar(QWidget* parent = nullptr);

    struct Counts {
        std::int64_t finished = 0, failed = 0, paused = 0, running = 0;
        std::int64_t planned = 0;  // in all; 0: unknown
    };
    void setCounts(const Counts& counts);
    QSize sizeHint() const override { return {160, 10}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Counts m_counts;
};

}  // namespace lockstep::ui
