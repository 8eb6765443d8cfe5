#include "ui/plot/plot_marks.h"

namespace lockstep::ui {

namespace {

constexpr double kMarkerSize = 7;
constexpr double kSwatchRadius = 4;

QCPScatterStyle::ScatterShape shapeOf(Marker marker) {
    switch (marker) {
        case Marker::Circle: return QCPScatterStyle::ssCircle;
        case Marker::Square: return QCPScatterStyle::ssSquare;
        case Marker::Triangle: return QCPScatterStyle::ssTriangle;
        case Marker::Diamond: return QCPScatterStyle::ssDiamond;
        case Marker::Cross: return QCPScatterStyle::ssCross;
    }
    return QCPScatterStyle::ssCircle;
}

}  // namespace

QCPScatterStyle markerStyle(Marker marker, const QColor& color, const QColor& behind) {
    return QCPScatterStyle(shapeOf(marker), QPen(color, 1), QBrush(behind), kMarkerSize);
}

QPainterPath markerPath(Marker marker, QPointF center, qreal radius) {
    const auto at = [&](qreal x, qreal y) { return center + radius * QPointF(x, y); };
    QPainterPath path;
    switch (marker) {
        case Marker::Circle: path.addEllipse(center, radius, radius); break;
        case Marker::Square: path.addRect(QRectF(at(-1, -1), at(1, 1))); break;
        case Marker::Triangle:
            path.addPolygon(QPolygonF{at(0, -1.2), at(1.05, 0.6), at(-1.05, 0.6), at(0, -1.2)});
            break;
        case Marker::Diamond:
            path.addPolygon(QPolygonF{at(0, -1.2), at(1.2, 0), at(0, 1.2), at(-1.2, 0), at(0, -1.2)});
            break;
        case Marker::Cross:
            path.moveTo(at(-1, -1)), path.lineTo(at(1, 1));
            path.moveTo(at(1, -1)), path.lineTo(at(-1, 1));
            break;
    }
    return path;
}

void paintSample(QPainter& painter, const QRectF& box, Marker marker, const QColor& color, bool dashed) {
    const QPointF middle = box.center();
    painter.setPen(QPen(color, 1.5, dashed ? Qt::DashLine : Qt::SolidLine));
    painter.drawLine(QPointF(box.left(), middle.y()), QPointF(box.right(), middle.y()));
    painter.setPen(QPen(color, 1.5));
    painter.setBrush(dashed ? QBrush(currentTheme().surface) : QBrush(color));
    painter.drawPath(markerPath(marker, middle, kMarkerSize / 2));
}

void paintMarker(QPainter& painter, Marker marker, QPointF center, qreal radius, const QColor& color,
                 const QPen& outline) {
    const bool hasInside = marker != Marker::Cross;
    painter.setPen(hasInside ? outline : QPen(color, 2));
    painter.setBrush(hasInside ? QBrush(color) : QBrush(Qt::NoBrush));
    painter.drawPath(markerPath(marker, center, radius));
}

QString markerGlyph(Marker marker) {
    switch (marker) {
        case Marker::Circle: return QString(QChar(0x25CF));
        case Marker::Square: return QString(QChar(0x25A0));
        case Marker::Triangle: return QString(QChar(0x25B2));
        case Marker::Diamond: return QString(QChar(0x25C6));
        case Marker::Cross: return QString(QChar(0x2715));
    }
    return {};
}

void paintSwatch(QPainter& painter, const QRect& cell, std::int64_t look, bool isQuiet) {
    constexpr float kQuiet = 0.3F;
    QColor color = seriesColor(look, currentTheme());
    if (isQuiet) color.setAlphaF(kQuiet);
    const QPointF center(cell.left() + kSwatchWidth / 2.0 + 2, QRectF(cell).center().y());
    paintMarker(painter, seriesMarker(look), center, kSwatchRadius, color, QPen(color, 2));
}

}  // namespace lockstep::ui
