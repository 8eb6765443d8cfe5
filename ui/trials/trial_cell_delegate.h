#pragma once
#include <QStyledItemDelegate>

#include "ui/style/theme.h"

namespace lockstep::ui {

// A quiet selection that leaves the colours of series and states to be seen.
QColor selectionColor(const Theme& theme);

// Cells of the table of trials: the star, the trial's colour and marker before its number, the state's colour. A click
// on the star, or the space bar, sets it.
class TrialCellDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                     const QModelIndex& index) override;
    QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

}  // namespace lockstep::ui
