#include "ui/views/plot_marks.h"

namespace lockstep::ui {

namespace {

constexpr double kMarkerSize = 7;
constexpr int kIconWidth = 22, kIconHeight = 12;

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

QIcon markerIcon(Marker marker, const QColor& color, double pixelRatio) {
    QPixmap picture(QSize(kIconWidth, kIconHeight) * pixelRatio);
    picture.setDevicePixelRatio(pixelRatio);
    picture.fill(Qt::transparent);
    QCPPainter painter(&picture);
    painter.setAntialiasing(true);
    painter.setPen(QPen(color, 1.5));
    painter.drawLine(QPointF(0, kIconHeight / 2.0), QPointF(kIconWidth, kIconHeight / 2.0));
    const QCPScatterStyle style(shapeOf(marker), QPen(color, 1.5), QBrush(color), kMarkerSize);
    style.applyTo(&painter, painter.pen());
    style.drawShape(&painter, kIconWidth / 2.0, kIconHeight / 2.0);
    return QIcon(picture);
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

}  // namespace lockstep::ui
