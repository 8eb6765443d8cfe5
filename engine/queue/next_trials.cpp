#include "engine/queue/next_trials.h"

#include <algorithm>

namespace lockstep {

namespace {

WaitReason ownReason(const QueuedTrial& trial, const std::map<std::int64_t, GroupLimit>& groups,
                     const std::map<std::int64_t, std::int64_t>& running) {
    if (trial.entry.held) return WaitReason::Held;
    const auto limit = trial.group ? groups.find(*trial.group) : groups.end();
    if (limit != groups.end() && limit->second.paused) return WaitReason::GroupPaused;
    if (trial.awaitsOther) return WaitReason::AfterOther;
    if (limit == groups.end()) return WaitReason::None;
    const auto busy = running.find(*trial.group);
    return busy != running.end() && busy->second >= limit->second.parallel ? WaitReason::GroupIsBusy : WaitReason::None;
}

}  // namespace

std::vector<WaitReason> waitReasons(std::span<const QueuedTrial> queue,
                                    const std::map<std::int64_t, GroupLimit>& groups, Room room) {
    std::map<std::int64_t, std::int64_t> running;
    for (const QueuedTrial& each : queue) {
        if (!each.isRunning) continue;
        room.take(each.demand);
        if (each.group) ++running[*each.group];
    }
    std::vector<WaitReason> reasons;
    for (const QueuedTrial& each : queue) {
        WaitReason reason = each.isRunning ? WaitReason::None : ownReason(each, groups, running);
        if (!each.isRunning && reason == WaitReason::None) {
            if (!room.has(each.demand)) reason = WaitReason::Machine;
            else if (each.group) ++running[*each.group];
            room.take(each.demand);
        }
        reasons.push_back(reason);
    }
    return reasons;
}

bool needsKeeper(std::span<const QueuedTrial> queue, std::span<const WaitReason> reasons,
                 const std::map<std::int64_t, GroupLimit>& groups) {
    const auto waitsForAPerson = [](WaitReason each) {
        return each == WaitReason::Held || each == WaitReason::GroupPaused;
    };
    if (!std::ranges::all_of(reasons, waitsForAPerson)) return true;
    return std::ranges::any_of(groups, [&](const auto& each) {
        return !each.second.paused &&
               std::ranges::find(queue, std::optional(each.first), &QueuedTrial::group) == queue.end();
    });
}

Outlook outlookOf(const QueuedTrial& trial) {
    const QueueEntry& entry = trial.entry;
    const bool isAsked = entry.asked == trial.attempts && entry.tries <= entry.retries + kMostCrashes;
    if (isAsked && trial.state != RunState::Finished) return Outlook::Start;
    switch (trial.state) {
        case RunState::Finished:
        case RunState::Stopped:
        case RunState::Cancelled: return Outlook::Ended;
        case RunState::Failed: return trial.retries && entry.tries <= entry.retries ? Outlook::Start : Outlook::Failed;
        case RunState::Crashed: return entry.tries <= entry.retries + kMostCrashes ? Outlook::Start : Outlook::Failed;
        default: return Outlook::Start;
    }
}

}  // namespace lockstep
