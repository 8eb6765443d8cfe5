#pragma once
#include <cuda_runtime.h>

#include <memory>
#include <span>
#include <string>

#include "engine/backend/cuda/cudnn_graph.h"
#include "engine/backend/plan_cache.h"

namespace lockstep::cuda {

// How the library does a graph on one card.
class CudnnPlan {
public:
    virtual ~CudnnPlan() = default;
    virtual std::size_t workspaceBytes() const = 0;
    // `memory`: of the graph's tensors, in their order.
    virtual void run(std::span<void* const> memory, std::byte* workspace, cudaStream_t stream) = 0;
};

// Of one card; both are others'.
struct CudnnPlans {
    const Cudnn& library;
    PlanCache& cache;
    bool byRule;
};

// The fastest of the library's plans for the graph: the one that the cache names, else timed on memory of its own,
// which takes milliseconds, and kept. By rule: the first that the library proposes. Plans whose results differ from run
// to run are left out, and, where the graph is exact, those that round their operands. Null where the library has no
// plan.
std::unique_ptr<CudnnPlan> makeCudnnPlan(const CudnnPlans& plans, const CudnnGraph& graph, const std::string& where);

// How many engines the library proposes that makeCudnnPlan would try, for a card that is only described
// (CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR): no card, no driver is needed.
std::size_t enginesFor(const CudnnGraph& graph, const CudnnDescriptor& card);

}  // namespace lockstep::cuda
