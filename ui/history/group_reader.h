#pragma once
#include "engine/history/trial_query.h"
#include "ui/history/trial_groups.h"

namespace lockstep::ui {

// Reads which trials belong to which sweep, in a few statements however many there are; the cells of a sweep, which
// never change, are read when there are new ones. Belongs to the thread of its query. Throws ProblemError as TrialQuery
// does.
class GroupReader {
public:
    TrialGroups read(const TrialQuery& query);
    void forget() { m_cells.clear(); }  // another history

private:
    std::unordered_map<std::int64_t, std::map<std::int64_t, Cell>> m_cells;
};

}  // namespace lockstep::ui
