#pragma once
#include <optional>
#include <span>

#include "engine/history/trial_query.h"
#include "engine/history/trial_queue.h"
#include "engine/search/sweep_spec.h"

namespace lockstep {

// Why a trial that failed or crashed did, as the catalogue has words for it: the problem that it met, the engine's own
// failure ("run.failed.…"), or "queue.no-last-word".
Problem failureCause(const TrialQuery& query, std::int64_t trial);

// Of one whose process ended and said nothing of it, at the epoch to which it had come.
Problem noLastWord(std::int64_t trial, std::int64_t epoch, std::int64_t tries);

// Of the first of a sweep's trials that failed; empty: none did. Numbers that are not finite, where the sweep varies
// the learning rate: "sweep.non-finite".
std::optional<Problem> firstFailure(const TrialQuery& query, const SweepSpec& sweep,
                                    std::span<const GroupTrial> trials);

}  // namespace lockstep
