#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "engine/history/trial_queue.h"
#include "engine/spec/trial_spec.h"

namespace lockstep {

class HistoryWriter;
class TrialStore;

// Writes what the queue goes by: which trials wait and in which order, and which belong to a sweep. Each call is one
// transaction; any number of processes at once. Throws what TrialStore throws; "queue.not-queued" where a trial is not
// in the queue, "group.unknown".
class QueueStore {
public:
    explicit QueueStore(TrialStore& store);  // which outlives it

    std::int64_t createGroup(const TrialGroup& group);  // its id and time are given here
    void setGroupState(std::int64_t group, GroupState state, const std::string& reason = {});
    // Of one that is still active, and of the spec that was seen: a person may just have paused, cancelled or extended
    // it. False: it is not, and nothing is written.
    bool leaveActive(const TrialGroup& seen, GroupState state, const std::string& reason = {});
    void setGroupSpec(std::int64_t group, const std::string& specJson);
    // False: another process has suggested under that number, or this very cell.
    bool addCell(std::int64_t group, const GroupCell& cell);

    // Makes a trial's row and its run directory, as TrialStore::createTrial, and what it is to the queue. 0: the place
    // in its group is taken already. `untilEpoch`: that it may train to for now.
    std::int64_t createTrial(const TrialSpec& spec, const std::filesystem::path& runs, const QueueEntry& entry,
                             const std::optional<GroupPlace>& place, std::optional<std::int64_t> untilEpoch = {});
    // It may train further, to this epoch or to its end, and is queued for that.
    void letGoOn(const GroupPlace& place, std::optional<std::int64_t> untilEpoch, std::int64_t retries);
    void noteArrival(std::int64_t group, const RungArrival& arrival);  // once
    // A trial that is there counts as the place's own. False: the place is taken already.
    bool adopt(const GroupPlace& place, std::int64_t trial);
    void freePlace(const GroupPlace& place);  // its trial, if any is left, no longer belongs to the group

    // Behind all others of its priority; one that is queued already stays as it is.
    void add(const QueueEntry& entry);
    void remove(std::int64_t trial);  // also one that is not there
    // To the place just before another, with that one's priority; 0: to the end of its own priority.
    void moveBefore(std::int64_t trial, std::int64_t other);
    void setPriority(std::int64_t trial, std::int64_t priority);
    void setHeld(std::int64_t trial, bool held);  // one that is released is asked for anew
    void setAfter(std::int64_t trial, std::optional<std::int64_t> other);
    // An engine is about to be started for it, from this step on: a try, the first if it has come further since.
    bool countTry(std::int64_t trial, std::int64_t step);  // false: it is not in the queue any longer

private:
    template <class... Values>
    void change(const char* sql, std::int64_t trial, const Values&... values);

    HistoryWriter& m_writer;
    std::filesystem::path m_file;
};

}  // namespace lockstep
