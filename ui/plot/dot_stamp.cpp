#include "ui/plot/dot_stamp.h"

#include <QPaintEngine>
#include <cmath>

namespace lockstep::ui {

DotStamp::DotStamp(QPainter& painter, double radius, const QColor& color)
    : m_painter(painter), m_radius(radius), m_color(color) {
    if (painter.paintEngine()->type() != QPaintEngine::Raster) return;
    const double ratio = painter.device()->devicePixelRatioF();
    const int pixels = 2 * qCeil(radius * ratio) + 1;
    m_dot = QPixmap(pixels, pixels);
    m_dot.setDevicePixelRatio(ratio);
    m_dot.fill(Qt::transparent);
    QPainter dot(&m_dot);
    dot.setRenderHint(QPainter::Antialiasing);
    dot.setPen(Qt::NoPen);
    dot.setBrush(color);
    dot.drawEllipse(QPointF(pixels / ratio / 2, pixels / ratio / 2), radius, radius);
}

void DotStamp::paint(QPointF center) const {
    if (m_dot.isNull()) {
        m_painter.setPen(Qt::NoPen);
        m_painter.setBrush(m_color);
        return m_painter.drawEllipse(center, m_radius, m_radius);
    }
    const double ratio = m_dot.devicePixelRatio();
    const int half = m_dot.width() / 2;
    m_painter.drawPixmap(QPointF(std::floor(center.x() * ratio) - half, std::floor(center.y() * ratio) - half) / ratio,
                         m_dot);
}

}  // namespace lockstep::ui
