#pragma once
#include <QAbstractTableModel>
#include <QUndoStack>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/history/trial_query.h"
#include "ui/history/trial_edit.h"
#include "ui/trials/trial_columns.h"

namespace lockstep::ui {

// The trials as a table of TrialColumn, the trash and the archive included (see TrialFilterProxy). The window's thread.
// Edits show at once, go to `write`, and are steps of the undo stack; the stack must not outlive the model.
class TrialTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Role {
        TrialRole = Qt::UserRole,  // the trial's number
        SortRole,                  // see sortValueOf
        PlainRole,                 // see plainOf
    };

    TrialTableModel(QUndoStack& undo, WriteEdits write, QObject* parent = nullptr);

    // Numbers descending, as TrialQuery lists them. Inserts, changes and removes what differs; never resets.
    void setRows(const std::vector<TrialRow>& rows);
    // What trials take of the disk, in bytes, by their numbers; of others nothing is known.
    void setWeights(std::unordered_map<std::int64_t, std::uint64_t> weights);
    const TrialRow& row(int index) const { return m_entries[static_cast<std::size_t>(index)].row; }
    const QString& haystack(int index) const;  // see haystackOf
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
        mutable QString haystack;  // made when it is first asked for
    };

    void removeGone(std::size_t at, const TrialRow* next);
    std::size_t insertFresh(std::size_t at, const std::vector<TrialRow>& rows, std::size_t from);
    bool replace(std::size_t at, const TrialRow& row);
    void emitChanged(std::size_t first, std::size_t last);

    std::optional<std::uint64_t> weightOf(const TrialRow& row) const;

    QUndoStack& m_undo;
    WriteEdits m_write;
    std::vector<Entry> m_entries;
    std::unordered_map<std::int64_t, std::uint64_t> m_weights;
    std::size_t m_prepared = 0;  // entries up to here have their haystack, or had one
};

}  // namespace lockstep::ui
