#include "ui/plot/chart_frame.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr double kGap = 6, kTick = 4;

double valueAt(const report::ChartScale& scale, double place) {
    if (!scale.isLog) return scale.low + place * (scale.high - scale.low);
    return scale.low * std::pow(scale.high / scale.low, place);
}

}  // namespace

report::ChartScale chartScale(double low, double high, bool isLog, int most) {
    constexpr double kAir = 0.04;
    if (isLog && low > 0) {
        const double factor = high > low ? std::pow(high / low, kAir) : 2;
        return report::logScale(low / factor, high * factor, std::max(most, 3));
    }
    const double air = high > low ? (high - low) * kAir : 0;
    return report::linearScale(low - air, high + air, std::max(most, 3), false);
}

ChartFrame::ChartFrame(const QRectF& area, ChartAxis x, ChartAxis y, const QFont& font)
    : m_x(std::move(x)), m_y(std::move(y)), m_font(font), m_area(area) {
    const QFontMetricsF metrics(font);
    double widest = 0;
    for (const double tick : m_y.scale.ticks) widest = std::max(widest, metrics.horizontalAdvance(text(m_y, tick)));
    const double left = widest + kTick + kGap + (m_y.title.isEmpty() ? 0 : metrics.height() + kGap);
    const double bottom = metrics.height() + kTick + kGap + (m_x.title.isEmpty() ? 0 : metrics.height());
    m_plot = area.adjusted(left, kGap + metrics.height() / 2, -3 * kGap, -bottom);
    if (m_plot.width() < 1) m_plot.setWidth(1);
    if (m_plot.height() < 1) m_plot.setHeight(1);
}

QString ChartFrame::text(const ChartAxis& axis, double tick) const {
    return axis.words ? axis.words(tick) : QString::fromStdString(report::tickText(axis.scale, tick));
}

QPointF ChartFrame::at(double x, double y) const {
    return {m_plot.left() + m_x.scale.place(x) * m_plot.width(),
            m_plot.bottom() - m_y.scale.place(y) * m_plot.height()};
}

double ChartFrame::xAt(double pixel) const { return valueAt(m_x.scale, (pixel - m_plot.left()) / m_plot.width()); }

double ChartFrame::yAt(double pixel) const { return valueAt(m_y.scale, (m_plot.bottom() - pixel) / m_plot.height()); }

void ChartFrame::paint(QPainter& painter) const {
    const Theme& theme = currentTheme();
    const QFontMetricsF metrics(m_font);
    painter.save();
    painter.setFont(m_font);
    painter.setRenderHint(QPainter::Antialiasing, false);
    double end = -1e9;  // of the words at the tick before
    for (const double tick : m_x.scale.ticks) {
        const double x = at(tick, m_y.scale.low).x();
        painter.setPen(theme.grid);
        painter.drawLine(QPointF(x, m_plot.top()), QPointF(x, m_plot.bottom()));
        const QString words = text(m_x, tick);
        const double width = metrics.horizontalAdvance(words);
        if (x - width / 2 < end) continue;
        end = x + width / 2 + kGap;
        painter.setPen(theme.muted);
        painter.drawText(QRectF(x - width / 2 - 1, m_plot.bottom() + kTick, width + 2, metrics.height()),
                         Qt::AlignCenter, words);
    }
    for (const double tick : m_y.scale.ticks) {
        const double y = at(m_x.scale.low, tick).y();
        painter.setPen(theme.grid);
        painter.drawLine(QPointF(m_plot.left(), y), QPointF(m_plot.right(), y));
        painter.setPen(theme.muted);
        painter.drawText(QRectF(m_area.left(), y - metrics.height() / 2, m_plot.left() - m_area.left() - kTick - 2,
                                metrics.height()),
                         Qt::AlignRight | Qt::AlignVCenter, text(m_y, tick));
    }
    painter.setPen(theme.border);
    painter.drawLine(m_plot.bottomLeft(), m_plot.bottomRight());
    painter.drawLine(m_plot.topLeft(), m_plot.bottomLeft());
    painter.setPen(theme.muted);
    painter.drawText(QRectF(m_plot.left(), m_area.bottom() - metrics.height(), m_plot.width(), metrics.height()),
                     Qt::AlignCenter, m_x.title);
    painter.translate(m_area.left() + metrics.height() / 2, m_plot.center().y());
    painter.rotate(-90);
    painter.drawText(QRectF(-m_plot.height() / 2, -metrics.height() / 2, m_plot.height(), metrics.height()),
                     Qt::AlignCenter, m_y.title);
    painter.restore();
}

}  // namespace lockstep::ui
