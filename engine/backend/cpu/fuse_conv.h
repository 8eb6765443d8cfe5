#pragma once
#include "engine/backend/cpu/conv_choice.h"
#include "engine/graph/graph.h"

namespace lockstep::cpu {

// As fuse() for what stands around our own convolutions; comes after it.
Graph fuseConvolutions(const Graph& graph, const ConvChoice& choose);

}  // namespace lockstep::cpu
