#pragma once
#include <functional>
#include <string>
#include <vector>

#include "engine/train/plan_run.h"

namespace lockstep {

// What anybody who writes a model wants to see of it: its gradients are the slopes of its loss, and it can learn.

// The loss summed over a batch, measured h on either side of a parameter's values, beside what the computed gradient
// says; where these differ, once more at a tenth and a hundredth of h, within which fewer kinks lie: the least
// difference counts.
struct SlopeCheck {
    std::string parameter;  // empty: all together
    double along = 0;       // along the gradient: |slope / ‖gradient‖ - 1|
    double across = 0;      // along a random direction, relative to ‖gradient‖ / sqrt(elements)
    bool holds = false;     // both below kAllowed; or the gradient is nothing but rounding
    static constexpr double kAllowed = 1e-3;
};

struct SlopesRequest {
    const ResolvedSpec& resolved;  // one device that computes in f64
    const ModelInput& input;
    double seconds = 60;  // no further parameter is begun after so long; 0: all are checked
    std::function<void(const SlopeCheck&)> onSlope = {};
};
// Of all parameters together first, then one by one, as many as there was time for, spread over the model. With dropout
// as in update 0. Throws EngineError(NonFinite), and what planRun() throws.
std::vector<SlopeCheck> checkSlopes(const SlopesRequest& request);

struct MemorisedBatch {
    std::int64_t updates = 0;
    double loss = 0, accuracy = 0;  // mean over the batch, as the last update found it
    bool isMemorised() const { return accuracy == 1; }
};
struct MemoriseRequest {
    const ResolvedSpec& resolved;  // one device; its batch is what is learnt by heart
    const ModelInput& input;
    std::int64_t updates = 2000;  // at most
    std::function<void(const MemorisedBatch&)> onUpdate = {};
};
// Trains on one batch of made-up samples, at the learning rate of the spec, until all are told rightly. Throws the
// same.
MemorisedBatch memorise(const MemoriseRequest& request);

}  // namespace lockstep
