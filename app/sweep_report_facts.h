#pragma once
#include "app/words.h"
#include "engine/queue/sweep_results.h"
#include "engine/report/sweep_facts.h"

namespace lockstep {

// What the history knows of a sweep, for its report. Throws ProblemError as sweepResult().
report::SweepFacts sweepFactsOf(const TrialQuery& query, std::int64_t sweep, const Words& words);

}  // namespace lockstep
