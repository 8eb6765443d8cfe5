#include "ui/queue/sweep_bar.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <array>

#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

struct SweepPart {
    std::int64_t SweepBar::Counts::*count;
    QColor Theme::*color;
};
constexpr std::array<SweepPart, 4> kSweepParts{{
    {&SweepBar::Counts::finished, &Theme::good},
    {&SweepBar::Counts::failed, &Theme::bad},
    {&SweepBar::Counts::paused, &Theme::outline},
    {&SweepBar::Counts::running, &Theme::accent},
}};

}  // namespace

SweepBar::SweepBar(QWidget* parent) : QWidget(parent) { setFixedHeight(10); }

void SweepBar::setCounts(const Counts& counts) {
    m_counts = counts;
    update();
}

void SweepBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QPainterPath outline;
    outline.addRoundedRect(rect(), 3, 3);
    painter.setClipPath(outline);
    const Theme& theme = currentTheme();
    painter.fillRect(rect(), theme.grid);
    const std::int64_t made = m_counts.finished + m_counts.failed + m_counts.paused + m_counts.running;
    const auto all = static_cast<double>(std::max<std::int64_t>({m_counts.planned, made, 1}));
    double left = 0;
    for (const SweepPart& part : kSweepParts) {
        const double width = static_cast<double>(m_counts.*part.count) / all * this->width();
        painter.fillRect(QRectF(left, 0, width, height()), theme.*part.color);
        left += width;
    }
}

}  // namespace lockstep::ui
