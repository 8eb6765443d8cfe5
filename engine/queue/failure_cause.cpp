#include "engine/queue/failure_cause.h"

#include <algorithm>

namespace lockstep {

Problem failureCause(const TrialQuery& query, std::int64_t trial) {
    const std::string number = std::to_string(trial);
    const auto failed = query.failure(trial);
    if (!failed) return {"trial", "queue.no-last-word", {number}};
    if (auto problem = problemIn(*failed)) return std::move(*problem);
    return {failed->where, "run.failed." + failed->kind, {failed->what, "Trial " + number}};
}

std::optional<Problem> firstFailure(const TrialQuery& query, std::span<const GroupTrial> trials) {
    const auto isOne = [](const GroupTrial& each) { return each.trial && each.hasFailed(); };
    const auto first = std::ranges::find_if(trials, isOne);
    if (first == trials.end()) return std::nullopt;
    return failureCause(query, *first->trial);
}

}  // namespace lockstep
