#include "ui/plot/parts_bar.h"

#include <QPainter>
#include <QPainterPath>
#include <utility>

namespace lockstep::ui {

namespace {

constexpr int kBarWidth = 160, kBarHeight = 10, kBarRadius = 3;

}  // namespace

PartsBar::PartsBar(QWidget* parent) : QWidget(parent) { setFixedHeight(kBarHeight); }

QSize PartsBar::sizeHint() const { return {kBarWidth, kBarHeight}; }

void PartsBar::setParts(std::vector<Part> parts) {
    m_parts = std::move(parts);
    update();
}

void PartsBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QPainterPath outline;
    outline.addRoundedRect(rect(), kBarRadius, kBarRadius);
    painter.setClipPath(outline);
    const Theme& theme = currentTheme();
    painter.fillRect(rect(), theme.grid);
    double left = 0;
    for (const Part& each : m_parts) {
        const double wide = each.share * width();
        painter.fillRect(QRectF(left, 0, wide, height()), theme.*each.color);
        left += wide;
    }
}

}  // namespace lockstep::ui
