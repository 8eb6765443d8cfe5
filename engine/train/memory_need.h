#pragma once
#include <optional>
#include <string>

#include "engine/train/plan_run.h"

namespace lockstep {

// Where the ranks that share a memory (a card's; of CPU devices the machine's) need more than is free there just now, a
// problem, "run.memory" or, if no batch is small enough, "run.memory-at-any-batch". Empty: it fits, or nobody knows
// what is free. Opens no device; plans smaller batches to find one that fits. `plan` is of `resolved` for these data.
std::optional<Problem> shortOfMemory(const ResolvedSpec& resolved, const RunPlan& plan, const DatasetInfo& train,
                                     const DatasetInfo& test);

// Whether it fits in what is free just now, or nobody knows what is.
bool fitsMemory(const ResolvedSpec& resolved, const RunPlan& plan);

// The smallest batch with a sample for each pass.
std::int64_t leastBatch(const ResolvedSpec& resolved);

// For a run that had not enough all the same: what takes how much on that rank, and which batch would take half of what
// grows with it.
std::string memoryText(const ResolvedSpec& resolved, const RunPlan& plan, int rank);

}  // namespace lockstep
