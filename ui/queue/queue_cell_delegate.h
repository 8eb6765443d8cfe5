#pragma once
#include <QStyledItemDelegate>

#include "ui/history/trial_selection.h"
#include "ui/plot/plot_marks.h"

namespace lockstep::ui {

// Cells of the queue: the trial's colour and marker before its number, and how far it has come as a bar below its
// state.
class QueueCellDelegate : public QStyledItemDelegate {
public:
    // The selection outlives the delegate.
    QueueCellDelegate(const TrialSelection* selection, QObject* parent)
        : QStyledItemDelegate(parent), m_selection(*selection) {}
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

private:
    void paintMark(QPainter& painter, const QRect& cell, std::int64_t trial) const {
        paintSwatch(painter, cell, m_selection.lookOf(trial), m_selection.isQuiet(trial));
    }

    const TrialSelection& m_selection;
};

}  // namespace lockstep::ui
