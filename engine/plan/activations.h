#pragma once
#include <vector>

#include "engine/plan/schedule.h"

namespace lockstep {

struct ActivationPlan {
    std::size_t bytes = 0, bytesWithoutReuse = 0;
};

// Completes the slots of all steps: what is not pinned gets a place among the activations for as long as it is needed;
// an op that may work in place takes over its input's memory when nobody reads that later. Outputs of the graph stay to
// the end of the step, and so do constants that other kernels read.
ActivationPlan assignActivations(std::vector<DraftStep>& drafts, const Graph& graph, const Placement& placement);

}  // namespace lockstep
