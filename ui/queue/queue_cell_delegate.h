#pragma once
#include <QStyledItemDelegate>

namespace lockstep::ui {

// Cells of the queue: the trial's colour and marker before its number, and how far it has come as a bar below its
// state.
class QueueCellDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

}  // namespace lockstep::ui
