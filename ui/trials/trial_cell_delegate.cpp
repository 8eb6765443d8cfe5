#include "ui/trials/trial_cell_delegate.h"

#include <QKeyEvent>
#include <QPainter>
#include <cmath>

#include "ui/plot/plot_marks.h"
#include "ui/trials/trial_table_model.h"

namespace lockstep::ui {

namespace {

constexpr qreal kMarkerRadius = 5;
constexpr int kSwatchWidth = 22;
constexpr QChar kGap(0x2002);  // keeps a right-aligned number off the next column

QPolygonF starAt(QPointF center, qreal radius, qreal inner) {
    QPolygonF points;
    for (int i = 0; i < 10; ++i) {
        const qreal angle = M_PI * i / 5 - M_PI / 2, reach = i % 2 == 1 ? inner : radius;
        points << center + QPointF(reach * std::cos(angle), reach * std::sin(angle));
    }
    return points;
}

QColor colorOf(const QString& state, const Theme& theme) {
    if (state == "finished") return theme.good;
    if (state == "failed" || state == "crashed") return theme.bad;
    if (state == "stopped" || state == "cancelled") return theme.warn;
    return theme.accent;  // something still happens
}

void paintStar(QPainter& painter, const QRect& cell, bool set, const QColor& color) {
    painter.setPen(QPen(color, 1));
    painter.setBrush(set ? QBrush(color) : QBrush(Qt::NoBrush));
    painter.drawPolygon(starAt(QRectF(cell).center(), 7, 3));
}

void paintSwatch(QPainter& painter, const QRect& cell, std::int64_t trial, const Theme& theme) {
    const QColor color = seriesColor(trial, theme);
    const QPointF center(cell.left() + kSwatchWidth / 2.0 + 2, QRectF(cell).center().y());
    painter.setPen(QPen(color, 2));
    painter.setBrush(seriesMarker(trial) == Marker::Cross ? QBrush(Qt::NoBrush) : QBrush(color));
    painter.drawPath(markerPath(seriesMarker(trial), center, kMarkerRadius - 1));
}

}  // namespace

QColor selectionColor(const Theme& theme) {
    const float share = theme.dark ? 0.3f : 0.16f;
    const auto mixed = [&](float below, float above) { return (1 - share) * below + share * above; };
    return QColor::fromRgbF(mixed(theme.surface.redF(), theme.accent.redF()),
                            mixed(theme.surface.greenF(), theme.accent.greenF()),
                            mixed(theme.surface.blueF(), theme.accent.blueF()));
}

void TrialCellDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
    QStyledItemDelegate::initStyleOption(option, index);
    const Theme& theme = currentTheme();
    const QColor text = index.column() == kStateColumn ? colorOf(option->text, theme) : theme.text;
    option->palette.setColor(QPalette::Text, text);
    option->palette.setColor(QPalette::HighlightedText, text);
    option->palette.setColor(QPalette::Highlight, selectionColor(theme));
    option->state.setFlag(QStyle::State_HasFocus, false);  // painted here, around the whole cell
    if (index.column() == kStarColumn) option->text.clear();
    else if (isNumeric(index.column())) option->text += kGap;
}

void TrialCellDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QStyledItemDelegate::paint(painter, option, index);
    const Theme& theme = currentTheme();
    painter->save();
    if (option.state.testFlag(QStyle::State_HasFocus)) {
        painter->setPen(theme.accent);
        painter->drawRect(option.rect.adjusted(0, 0, -1, -1));
    }
    painter->setRenderHint(QPainter::Antialiasing);
    if (index.column() == kStarColumn) {
        const bool set = index.data(Qt::EditRole).toBool();
        paintStar(*painter, option.rect, set, set ? theme.warn : theme.wait);
    } else if (index.column() == kIdColumn) {
        paintSwatch(*painter, option.rect, index.data(TrialTableModel::TrialRole).toLongLong(), theme);
    }
    painter->restore();
}

QSize TrialCellDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const QSize size = QStyledItemDelegate::sizeHint(option, index);
    return index.column() == kIdColumn ? size + QSize(kSwatchWidth, 0) : size;
}

bool TrialCellDelegate::editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                                    const QModelIndex& index) {
    if (index.column() != kStarColumn) return QStyledItemDelegate::editorEvent(event, model, option, index);
    const bool clicked = event->type() == QEvent::MouseButtonRelease &&
                         static_cast<QMouseEvent*>(event)->button() == Qt::LeftButton &&
                         static_cast<QMouseEvent*>(event)->modifiers() == Qt::NoModifier;
    const bool pressed = event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space;
    return (clicked || pressed) && model->setData(index, !index.data(Qt::EditRole).toBool(), Qt::EditRole);
}

QWidget* TrialCellDelegate::createEditor(QWidget* parent, const QStyleOptionViewItem& option,
                                         const QModelIndex& index) const {
    return index.column() == kStarColumn ? nullptr : QStyledItemDelegate::createEditor(parent, option, index);
}

}  // namespace lockstep::ui
