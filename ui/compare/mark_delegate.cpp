#include "ui/compare/mark_delegate.h"

#include <QPainter>

#include "ui/plot/plot_marks.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

QSize MarkDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const QSize text = QStyledItemDelegate::sizeHint(option, index);
    return index.column() == 0 ? text + QSize(kMarkWidth, 0) : text;
}

void MarkDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QStyleOptionViewItem text = option;
    const auto row = index.column() == 0 ? m_model.rowAt(index.row()) : std::nullopt;
    if (!row) return paintCell(painter, text, index);
    text.rect.setLeft(text.rect.left() + kMarkWidth);
    painter->fillRect(option.rect, background(option, index));
    paintCell(painter, text, index);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRectF box(option.rect.left(), option.rect.top(), kMarkWidth, option.rect.height());
    paintMark(*painter, box.center(), m_model.scene()->table->trials[*row].trial);
    painter->restore();
}

void MarkDelegate::paintCell(QPainter* painter, QStyleOptionViewItem option, const QModelIndex& index) const {
    option.state.setFlag(QStyle::State_HasFocus, false);
    if (isHovered(index)) option.backgroundBrush = currentTheme().raised;
    QStyledItemDelegate::paint(painter, option, index);
}

QBrush MarkDelegate::background(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    if (option.state.testFlag(QStyle::State_Selected)) return selectionColor(currentTheme());
    return isHovered(index) ? QBrush(currentTheme().raised) : QBrush(Qt::NoBrush);
}

bool MarkDelegate::isHovered(const QModelIndex& index) const {
    const auto hovered = m_selection.hovered();
    return hovered && m_model.placeOf(*hovered) == index.row();
}

void MarkDelegate::paintMark(QPainter& painter, QPointF center, std::int64_t trial) const {
    const Theme& theme = currentTheme();
    const auto place = m_selection.placeOf(trial);
    if (!place) {
        painter.setPen(QPen(theme.outline, 1));
        painter.drawEllipse(center, 4, 4);
        return;
    }
    paintMarker(painter, seriesMarker(*place), center, 5, seriesColor(*place, theme));
}

}  // namespace lockstep::ui
