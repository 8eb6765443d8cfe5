#pragma once
#include <QAbstractTableModel>
#include <cstdint>
#include <vector>

#include "ui/queue/queue_actions.h"

namespace lockstep::ui {

// The queue as a table: those that run, then those that wait, in their order. Trials that wait are dragged among each
// other by their numbers; nothing moves before the queue says so. The window's thread.
class QueueTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        TrialColumn,
        StateColumn,
        SweepColumn,
        PriorityColumn,
        ModelColumn,
        DevicesColumn,
        TitleColumn,
        ColumnCount
    };
    enum Role {
        TrialRole = Qt::UserRole,  // the trial's number
        ShareRole,                 // see shareDone(); invalid: it waits
        HeldRole                   // bool
    };

    using QAbstractTableModel::QAbstractTableModel;

    // Removes, inserts, moves and changes what differs; never resets, so that what is selected stays so.
    void setRows(std::vector<QueueRow> rows);
    const std::vector<QueueRow>& rows() const { return m_rows; }
    std::int64_t trialAt(int row) const { return m_rows[static_cast<std::size_t>(row)].line.entry.trial; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

    Qt::DropActions supportedDropActions() const override { return Qt::MoveAction; }
    QStringList mimeTypes() const override;
    QMimeData* mimeData(const QModelIndexList& indexes) const override;
    bool canDropMimeData(const QMimeData* dragged, Qt::DropAction action, int row, int column,
                         const QModelIndex& parent) const override;
    bool dropMimeData(const QMimeData* dragged, Qt::DropAction action, int row, int column,
                      const QModelIndex& parent) override;

signals:
    // Dropped just before a trial that waits, or behind all: see movedBefore().
    void moveWanted(const lockstep::ui::ChosenTrials& trials, qint64 before);

private:
    int running() const;  // how many rows there are above those that wait
    void removeGone(const std::vector<QueueRow>& rows);
    void appendFresh(const std::vector<QueueRow>& rows);
    void putInOrder(std::vector<QueueRow> rows);

    std::vector<QueueRow> m_rows;
};

}  // namespace lockstep::ui
