#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "engine/history/trial_queue.h"
#include "engine/queue/demand.h"
#include "engine/spec/run_state.h"

namespace lockstep {

// A trial of the queue as it stands at one moment.
struct QueuedTrial {
    QueueEntry entry;
    RunState state = RunState::Queued;  // judged by its lease
    bool isRunning = false;             // an engine has it, or one was started for it and has not answered yet
    std::int64_t attempts = 0;          // that it has begun
    bool retries = true;                // of one that failed: another try may do better
    bool awaitsOther = false;           // the trial that must end before has not
    Demand demand = {};
    std::optional<std::int64_t> group = {};
};

// Why a trial waits; the first that holds.
enum class WaitReason { None, Held, GroupPaused, AfterOther, GroupIsBusy, Machine };

// What may run at once of each group: its trials, and whether it is paused.
struct GroupLimit {
    std::int64_t parallel = 1;
    bool paused = false;
};

// In the order of the queue, for each trial why it is not started now; None: it runs, or is to be started. Pure.
// `room`: without what trials outside the queue take. One that does not fit keeps for itself what it needs of what is
// free: those behind it may take the rest, and no large trial waits for ever.
std::vector<WaitReason> waitReasons(std::span<const QueuedTrial> queue,
                                    const std::map<std::int64_t, GroupLimit>& groups, Room room);

// Whether the queue needs somebody who keeps it: to start a trial, to look after one that runs, or to make those of a
// sweep. What is held or paused waits for a person. `groups`: those that have not ended.
bool needsKeeper(std::span<const QueuedTrial> queue, std::span<const WaitReason> reasons,
                 const std::map<std::int64_t, GroupLimit>& groups);

// What becomes of a trial that an engine does not have (any more).
enum class Outlook { Start, Ended, Failed };
Outlook outlookOf(const QueuedTrial& trial);

// So often in a row an engine may die without a word and without having come further.
constexpr std::int64_t kMostCrashes = 10;

}  // namespace lockstep
