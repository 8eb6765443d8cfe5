#pragma once
#include <optional>
#include <span>

#include "engine/history/trial_query.h"
#include "engine/history/trial_queue.h"

namespace lockstep {

// Why a trial that failed or crashed did, as the catalogue has words for it: the problem that it met, the engine's own
// failure ("run.failed.…"), or "queue.no-last-word".
Problem failureCause(const TrialQuery& query, std::int64_t trial);

// Of the first of a group's trials that failed; empty: none did.
std::optional<Problem> firstFailure(const TrialQuery& query, std::span<const GroupTrial> trials);

}  // namespace lockstep
