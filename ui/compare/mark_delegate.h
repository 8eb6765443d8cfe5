#pragma once
#include <QStyledItemDelegate>

#include "ui/compare/compare_list.h"

namespace lockstep::ui {

// Cells of the list of compared trials. Before its name a trial has its mark: filled in its colour where it is pinned,
// a quiet ring where it could be.
class MarkDelegate : public QStyledItemDelegate {
public:
    static constexpr int kMarkWidth = 26;  // what the mark takes, from the left of the first column

    // Both outlive the delegate.
    MarkDelegate(const TrialSelection& selection, const CompareListModel& model, QObject* parent)
        : QStyledItemDelegate(parent), m_selection(selection), m_model(model) {}
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

private:
    void paintCell(QPainter* painter, QStyleOptionViewItem option, const QModelIndex& index) const;
    QBrush background(const QStyleOptionViewItem& option, const QModelIndex& index) const;
    bool isHovered(const QModelIndex& index) const;
    void paintMark(QPainter& painter, QPointF center, std::int64_t trial) const;

    const TrialSelection& m_selection;
    const CompareListModel& m_model;
};

}  // namespace lockstep::ui
