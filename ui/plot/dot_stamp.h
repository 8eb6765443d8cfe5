#pragma once
#include <QColor>
#include <QPainter>
#include <QPixmap>

namespace lockstep::ui {

// Draws many equal dots: as pixels copies of one picture, at whole pixels, several times as fast as ellipses; in vector
// graphics as ellipses. The painter outlives it.
class DotStamp {
public:
    DotStamp(QPainter& painter, double radius, const QColor& color);
    void paint(QPointF center) const;

private:
    QPainter& m_painter;
    const double m_radius;
    const QColor m_color;
    QPixmap m_dot;  // null: no pixels
};

}  // namespace lockstep::ui
