#include "ui/run/bandwidth_gauge.h"

#include <QLinearGradient>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>

#include "ui/plot/run_text.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr double kBarHeight = 12, kRadius = 3, kNeedle = 2, kGap = 6;
constexpr double kLongest = 2.5;  // times the shorter one is shown of a bar
constexpr double kRoom = 1.04;    // of the longest, to the right
constexpr int kLeast = 200;

double scaleOf(const Bandwidths& now) {
    return kRoom * std::max({now.reached, std::min(now.upper(), kLongest * now.lower()), 1e-9});
}

QString rateText(double rate) { return rate > 0 ? BandwidthGauge::tr("%1/s").arg(runCount(rate)) : QString("–"); }

}  // namespace

BandwidthGauge::BandwidthGauge(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

double BandwidthGauge::rowHeight() const { return std::max<double>(fontMetrics().height(), kBarHeight) + kGap; }

QSize BandwidthGauge::sizeHint() const {
    return {kLeast + fontMetrics().horizontalAdvance(tr("Training")) + fontMetrics().horizontalAdvance("1,000,000/s"),
            static_cast<int>(2 * rowHeight())};
}

void BandwidthGauge::setBandwidths(const Bandwidths& now) {
    m_now = now;
    setAccessibleName(tr("Loading could make %1, training could take %2, %3 are reached")
                          .arg(rateText(now.loading), rateText(now.training), rateText(now.reached)));
    update();
}

// Between the names and the numbers.
QRectF BandwidthGauge::barsArea() const {
    const QFontMetrics metrics = fontMetrics();
    const double left = std::max(metrics.horizontalAdvance(tr("Loading")), metrics.horizontalAdvance(tr("Training")));
    const double right = std::max(metrics.horizontalAdvance(rateText(m_now.loading)),
                                  metrics.horizontalAdvance(rateText(m_now.training)));
    return QRectF(rect()).adjusted(left + space::kMedium, 0, -right - space::kMedium, 0);
}

void BandwidthGauge::paintBar(QPainter& painter, const Bar& bar, const QRectF& row, double scale) const {
    painter.setPen(currentTheme().text);
    painter.drawText(row, Qt::AlignLeft | Qt::AlignVCenter, bar.name);
    painter.drawText(row, Qt::AlignRight | Qt::AlignVCenter, rateText(bar.rate));
    const QRectF area = barsArea();
    const QRectF track(area.left(), row.center().y() - kBarHeight / 2, area.width(), kBarHeight);
    QPainterPath outline;
    outline.addRoundedRect(track, kRadius, kRadius);
    painter.fillPath(outline, currentTheme().grid);
    const double share = bar.rate / scale;
    QBrush fill(bar.color);
    if (share > 1) {
        QLinearGradient fading(track.topLeft(), track.topRight());
        QColor clear = bar.color;
        clear.setAlpha(0);
        fading.setColorAt(0.85, bar.color), fading.setColorAt(1, clear);
        fill = fading;
    }
    painter.save();
    painter.setClipPath(outline);
    painter.fillRect(QRectF(track.left(), track.top(), std::min(share, 1.0) * track.width(), kBarHeight), fill);
    painter.restore();
}

void BandwidthGauge::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme& theme = currentTheme();
    const double scale = scaleOf(m_now), high = rowHeight();
    paintBar(painter, {tr("Loading"), m_now.loading, theme.load}, QRectF(0, 0, width(), high), scale);
    paintBar(painter, {tr("Training"), m_now.training, theme.compute}, QRectF(0, high, width(), high), scale);
    if (!(m_now.reached > 0)) return;
    const QRectF area = barsArea();
    const double at = area.left() + std::min(1.0, m_now.reached / scale) * area.width();
    painter.fillRect(QRectF(at - kNeedle / 2, 0, kNeedle, 2 * high), theme.text);
}

}  // namespace lockstep::ui
