#pragma once
#include <QStyledItemDelegate>

#include "ui/history/trial_selection.h"
#include "ui/plot/plot_marks.h"

namespace lockstep::ui {

constexpr int kFoldWidth = 26;  // what a sweep's triangle takes, from the left of the row

// Cells of the table of trials: the star, the trial's colour and marker before its number, the state's colour. A click
// on the star, or the space bar, sets it. A sweep's row is one line through all cells, with a triangle before it, and
// its trials have a stripe at their left.
class TrialCellDelegate : public QStyledItemDelegate {
public:
    // The selection outlives the delegate.
    TrialCellDelegate(const TrialSelection* selection, QObject* parent)
        : QStyledItemDelegate(parent), m_selection(*selection) {}
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                     const QModelIndex& index) override;
    QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

private:
    void paintMark(QPainter& painter, const QRect& cell, std::int64_t trial) const {
        paintSwatch(painter, cell, m_selection.lookOf(trial), m_selection.isQuiet(trial));
    }
    void paintSweep(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& index) const;

    const TrialSelection& m_selection;
};

}  // namespace lockstep::ui
