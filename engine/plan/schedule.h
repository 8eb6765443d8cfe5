#pragma once
#include <vector>

#include "engine/plan/placement.h"
#include "engine/plan/program.h"

namespace lockstep {

// A step before the memory plan: the slots of `reads` and `writes` are not all known yet; they will come before those
// that the step has already.
struct DraftStep { Step step; std::vector<ValueId> reads, writes; };

struct ScheduleInput {
    const Graph& graph;
    const Placement& placement;
    const StoragePlan& storage;
    const ScalarSlots& scalars;
    std::int64_t localBatch = 0;
    bool copiesInputs = false;         // the device cannot read the batch where it lies
    bool reduces = true;
};

// Kernels in node order. Each slice that ranks share is reduced as soon as no later kernel touches it, always in the
// order statistics, scalars, bucket 0, 1, …, which therefore is the same on all ranks whatever their batch.
std::vector<DraftStep> scheduleTraining(const ScheduleInput& input);
std::vector<DraftStep> scheduleEvaluation(const ScheduleInput& input);

// Of a rank without samples: zeros, then what `nominal` does after its kernels.
std::vector<Step> scheduleEmptyTraining(const Program& nominal);

}  // namespace lockstep
