#pragma once
#include <QWidget>

#include "engine/spec/bandwidths.h"

namespace lockstep::ui {

// Two bars, one above the other, and across both a needle at what is reached. Where one is much longer than the other,
// its end is faded: it goes on.
class BandwidthGauge : public QWidget {
    Q_OBJECT
public:
    explicit BandwidthGauge(QWidget* parent = nullptr);
    void setBandwidths(const Bandwidths& now);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Bar {
        QString name;
        double rate = 0;
        QColor color;
    };
    void paintBar(QPainter& painter, const Bar& bar, const QRectF& row, double scale) const;
    QRectF barsArea() const;
    double rowHeight() const;

    Bandwidths m_now;
};

}  // namespace lockstep::ui
