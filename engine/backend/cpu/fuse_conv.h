#pragma once
#include "engine/graph/graph.h"

namespace lockstep::cpu {

// As fuse() for what stands around our own convolutions; comes after it.
Graph fuseConvolutions(const Graph& graph);

}  // namespace lockstep::cpu
