#pragma once
#include "engine/graph/graph.h"

namespace lockstep::cpu {

// Elementwise ops and layer norms between matrices take the matrices' shape: views no longer stand between neighbours.
Graph foldViews(const Graph& graph);
// Replaces neighbours by the fused ops of fused_ops.h, before anything is laid out. The mathematics stays the same.
Graph fuse(const Graph& graph);
// The same for what stands around our own convolutions; comes after.
Graph fuseConvolutions(const Graph& graph);

}  // namespace lockstep::cpu
