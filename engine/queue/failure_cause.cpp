#include "engine/queue/failure_cause.h"

#include <algorithm>

namespace lockstep {

Problem noLastWord(std::int64_t trial, std::int64_t epoch, std::int64_t tries) {
    return {"trial",
            "queue.no-last-word",
            {std::to_string(trial), std::to_string(epoch), std::to_string(std::max<std::int64_t>(tries, 1))}};
}

Problem failureCause(const TrialQuery& query, std::int64_t trial) {
    const std::string number = std::to_string(trial);
    const auto failed = query.failure(trial);
    if (!failed) {
        const auto row = query.find(trial);
        return noLastWord(trial, row ? row->epoch : 0, row ? row->attempts : 1);
    }
    if (auto problem = problemIn(*failed)) return std::move(*problem);
    return {failed->where, "run.failed." + failed->kind, {failed->what, "Trial " + number}};
}

std::optional<Problem> firstFailure(const TrialQuery& query, const SweepSpec& sweep,
                                    std::span<const GroupTrial> trials) {
    const auto isOne = [](const GroupTrial& each) { return each.trial && each.hasFailed(); };
    const auto first = std::ranges::find_if(trials, isOne);
    if (first == trials.end()) return std::nullopt;
    Problem cause = failureCause(query, *first->trial);
    const bool variesRate = std::ranges::find(sweep.vary, "learning_rate", &Dimension::path) != sweep.vary.end();
    if (variesRate && cause.code == "run.failed.non-finite") cause.code = "sweep.non-finite";
    return cause;
}

}  // namespace lockstep
