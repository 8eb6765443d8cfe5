#pragma once
#include <optional>

#include "engine/report/sweep_facts.h"

namespace lockstep::report {

// What a sweep searched, what came out, what mattered, what failed and why, and how to repeat it. Of a thousand cells
// of a dozen settings it takes less than 2 MB: lines that are not among the best are thin, grey and coarse.
Document sweepReport(const SweepFacts& facts);

// What was trained, in epochs of all trials that are still there.
struct SweepBudget {
    std::int64_t spent = 0;
    std::optional<std::int64_t> planned = {};    // if every cell trained to its end; empty: nobody knows how many
    std::optional<std::int64_t> scheduled = {};  // about what its scheduler leaves of that
};
SweepBudget budgetOf(const SweepFacts& facts);

}  // namespace lockstep::report
