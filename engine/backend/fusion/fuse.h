#pragma once
#include "engine/graph/graph.h"

namespace lockstep {

// Elementwise ops and layer norms between matrices take the matrices' shape: views no longer stand between neighbours.
Graph foldViews(const Graph& graph);

// Replaces neighbours by the fused ops of fused_ops.h that the backend has kernels for, before anything is laid out.
// The mathematics stays the same.
using HasKernel = bool (*)(const OpDef& op);
Graph fuse(const Graph& graph, HasKernel hasKernel);

}  // namespace lockstep
