#include "ui/style/line_icon.h"

#include <QPainter>
#include <QPixmap>

#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr double kUnits = 24, kPen = 2;

QPixmap drawn(const QPainterPath& lines, int pixels, const QColor& color) {
    QPixmap picture(pixels, pixels);
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.scale(pixels / kUnits, pixels / kUnits);
    painter.setPen(QPen(color, kPen, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.drawPath(lines);
    return picture;
}

}  // namespace

QIcon lineIcon(const QPainterPath& lines) {
    QIcon icon;
    for (const int pixels : {16, 20, 24, 32, 48}) {
        icon.addPixmap(drawn(lines, pixels, currentTheme().text));
        icon.addPixmap(drawn(lines, pixels, currentTheme().onAccent), QIcon::Selected);
    }
    return icon;
}

}  // namespace lockstep::ui
