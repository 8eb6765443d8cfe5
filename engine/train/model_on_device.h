#pragma once
#include <memory>

#include "engine/train/checkpoint.h"
#include "engine/train/plan_run.h"
#include "engine/train/replica.h"

namespace lockstep {

// What evaluation reads of a checkpoint, its averages included. Throws ProblemError "checkpoint.mismatch".
void restoreForEvaluation(Replica& replica, const StoragePlan& storage, const Checkpoint& checkpoint);

// A trained model on one device, by itself: nothing is exchanged with others. One thread.
struct ModelOnDevice {
    RunPlan plan;
    std::unique_ptr<Device> device;
    std::vector<std::unique_ptr<Collective>> alone;
    std::unique_ptr<Replica> replica;  // its programs: for a full batch, and for a short last one

    const RankPrograms& programs() const { return plan.ranks.front(); }
    void close() noexcept;
};
// Programs for `samples` samples in batches of `batch`, on the resolved spec's device of that rank.
struct ModelRequest {
    const ResolvedSpec& resolved;
    const Checkpoint& checkpoint;
    const DatasetInfo& trained;
    int rank = 0;
    std::int64_t batch = 1, samples = 1;
};
ModelOnDevice openModel(const ModelRequest& request);  // throws ProblemError, EngineError

}  // namespace lockstep
