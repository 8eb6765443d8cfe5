#pragma once
#include <string_view>
#include <vector>

#include "engine/backend/backend.h"

namespace lockstep {

// y = max(x wᵀ + bias, 0) in one matrix product with an epilogue. (x, w, bias) -> y
extern const OpDef kCudaDenseRelu;

// The CUDA backend's pass over the graph, free of CUDA itself: fuses dense + relu, and refuses, by name, an op that
// `kernels` does not list.
Graph lowerForCuda(const Graph& graph, const std::vector<std::string_view>& kernels);

// Every op that the module has a kernel for, fused ones included.
const std::vector<std::string_view>& cudaKernelNames();

}  // namespace lockstep
