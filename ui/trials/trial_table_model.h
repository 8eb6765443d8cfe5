#pragma once
#include <QAbstractTableModel>
#include <QUndoStack>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/history/trial_query.h"
#include "engine/queue/sweep_results.h"
#include "ui/history/trial_edit.h"
#include "ui/history/trial_groups.h"
#include "ui/trials/trial_columns.h"

namespace lockstep::ui {

// The trials as a table of TrialColumn, the trash and the archive included, and behind them a row for each sweep, which
// is no trial and cannot be selected (see TrialFilterProxy). The window's thread. Edits show at once, go to `write`,
// and are steps of the undo stack; the stack must not outlive the model.
class TrialTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Role {
        TrialRole = Qt::UserRole,  // the trial's number
        SortRole,                  // see sortValueOf
        PlainRole,                 // see plainOf
        SweepRole,                 // of a sweep's row its number
        FoldedRole,                // of a sweep's row, in TrialFilterProxy: its trials are hidden
        MemberRole,                // of a trial, in TrialFilterProxy: it stands beneath its sweep
    };

    TrialTableModel(QUndoStack& undo, WriteEdits write, QObject* parent = nullptr);

    // Numbers descending, as TrialQuery lists them. Inserts, changes and removes what differs; never resets.
    void setRows(const std::vector<TrialRow>& rows);
    // What trials take of the disk, in bytes, by their numbers; of others nothing is known.
    void setWeights(std::unordered_map<std::int64_t, std::uint64_t> weights);
    // Where trials belong, and the sweeps' rows.
    void setGroups(const TrialGroups& groups);
    void setResult(const SweepResult& result);  // what a sweep has come to
    int trials() const { return static_cast<int>(m_entries.size()); }
    bool isSweep(int index) const { return index >= trials(); }
    std::int64_t sweepOf(int index) const;  // that a trial belongs to, or whose row it is; 0: none
    const std::vector<TrialGroup>& sweeps() const { return m_groups.sweeps; }
    int sweepIndex(std::int64_t sweep) const;  // its row; -1: unknown
    bool anyInSweep() const { return !m_groups.places.empty(); }
    const TrialRow& row(int index) const { return m_entries[static_cast<std::size_t>(index)].row; }  // of a trial
    const QString& haystack(int index) const;                                                        // see haystackOf
    // Makes up to `count` haystacks that are missing, so that the first letter of a filter need not; false: all are
    // there.
    bool prepareFilter(int count);
    int indexOf(std::int64_t trial) const;  // -1: unknown
    const TrialRow* find(std::int64_t trial) const;

    // One step of the undo stack, called `words` there; edits that change nothing are left out.
    void edit(TrialEdits edits, const QString& words);
    // Shows and writes, past the undo stack; false when none of the trials is there any more.
    bool perform(const TrialEdits& edits);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;

private:
    struct Entry {
        TrialRow row;
        GroupPlace place;          // group 0: none
        mutable QString haystack;  // made when it is first asked for
    };

    void removeGone(std::size_t at, const TrialRow* next);
    std::size_t insertFresh(std::size_t at, const std::vector<TrialRow>& rows, std::size_t from);
    bool replace(std::size_t at, const TrialRow& row);
    void emitChanged(std::size_t first, std::size_t last);

    GroupPlace placeOf(std::int64_t trial) const;
    void placeTrials();
    void takeSweeps(std::vector<TrialGroup> sweeps);
    QVariant cellData(const GroupPlace& place, int role) const;
    QVariant sweepData(int index, int role) const;
    QString rungTip(const Entry& entry) const;  // of one that waits at a rung of its sweep; empty: it does not
    std::optional<std::uint64_t> weightOf(const TrialRow& row) const;

    QUndoStack& m_undo;
    WriteEdits m_write;
    std::vector<Entry> m_entries;
    std::unordered_map<std::int64_t, std::uint64_t> m_weights;
    TrialGroups m_groups;
    std::unordered_map<std::int64_t, SweepResult> m_results;
    std::size_t m_prepared = 0;  // entries up to here have their haystack, or had one
};

}  // namespace lockstep::ui
