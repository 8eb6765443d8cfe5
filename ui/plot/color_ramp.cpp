#include "ui/plot/color_ramp.h"

#include "engine/report/color_ramp.h"

namespace lockstep::ui {

QColor rampColor(double share, const Theme& theme) {
    const report::RampColor color = report::rampColor(share, theme.dark);
    return {color.red, color.green, color.blue};
}

void paintRamp(QPainter& painter, const QRectF& line, const QString& name, const QString& worst, const QString& best) {
    constexpr int kWide = 64, kGap = 6, kHigh = 8;
    const QFontMetricsF metrics(painter.font());
    painter.setPen(currentTheme().muted);
    const double right = metrics.horizontalAdvance(best), left = metrics.horizontalAdvance(worst);
    painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, best);
    const QRectF ramp(line.right() - right - kGap - kWide, line.center().y() - kHigh / 2.0, kWide, kHigh);
    for (int i = 0; i < kWide; ++i)
        painter.fillRect(QRectF(ramp.left() + i, ramp.top(), 1, kHigh), rampColor(i / (kWide - 1.0), currentTheme()));
    painter.drawText(line.adjusted(0, 0, -right - 2 * kGap - kWide, 0), Qt::AlignRight | Qt::AlignVCenter, worst);
    const QRectF rest = line.adjusted(0, 0, -right - left - 4 * kGap - kWide, 0);
    painter.drawText(rest, Qt::AlignRight | Qt::AlignVCenter, metrics.elidedText(name, Qt::ElideRight, rest.width()));
}

}  // namespace lockstep::ui
