#include "ui/queue/queue_cell_delegate.h"

#include <QPainter>

#include "ui/plot/plot_marks.h"
#include "ui/queue/queue_table_model.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr int kBarHeight = 3, kBarMargin = 5;
constexpr QChar kCellGap(0x2002);  // keeps a right-aligned number off the next column

QColor stateColor(const QModelIndex& index, const Theme& theme) {
    if (index.data(QueueTableModel::ShareRole).isValid()) return theme.accent;
    return index.data(QueueTableModel::HeldRole).toBool() ? theme.warn : theme.text;
}

void paintShare(QPainter& painter, const QRect& cell, double share, const Theme& theme) {
    QRectF bar(cell.left() + kBarMargin, cell.bottom() - kBarHeight, cell.width() - 2 * kBarMargin, kBarHeight);
    painter.fillRect(bar, theme.border);
    bar.setWidth(bar.width() * share);
    painter.fillRect(bar, theme.accent);
}

}  // namespace

void QueueCellDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
    QStyledItemDelegate::initStyleOption(option, index);
    const Theme& theme = currentTheme();
    const QColor text = index.column() == QueueTableModel::StateColumn ? stateColor(index, theme) : theme.text;
    option->palette.setColor(QPalette::Text, text);
    option->palette.setColor(QPalette::HighlightedText, text);
    option->palette.setColor(QPalette::Highlight, selectionColor(theme));
    option->state.setFlag(QStyle::State_HasFocus, false);  // painted here, around the whole cell
    if (option->displayAlignment.testFlag(Qt::AlignRight)) option->text += kCellGap;
}

void QueueCellDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QStyledItemDelegate::paint(painter, option, index);
    const Theme& theme = currentTheme();
    painter->save();
    if (option.state.testFlag(QStyle::State_HasFocus)) {
        painter->setPen(theme.accent);
        painter->drawRect(option.rect.adjusted(0, 0, -1, -1));
    }
    painter->setRenderHint(QPainter::Antialiasing);
    const QVariant share = index.data(QueueTableModel::ShareRole);
    if (index.column() == QueueTableModel::TrialColumn)
        paintMark(*painter, option.rect, index.data(QueueTableModel::TrialRole).toLongLong());
    else if (index.column() == QueueTableModel::StateColumn && share.isValid())
        paintShare(*painter, option.rect, share.toDouble(), theme);
    painter->restore();
}

QSize QueueCellDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const QSize size = QStyledItemDelegate::sizeHint(option, index);
    return index.column() == QueueTableModel::TrialColumn ? size + QSize(kSwatchWidth, 0) : size;
}

}  // namespace lockstep::ui
