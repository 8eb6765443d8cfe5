#pragma once
#include "engine/graph/graph.h"

namespace lockstep {

// Multiplications and additions of one call; 0 of what is next to none (OpDef::flops).
double flopsOf(const Graph& graph, const Node& node);

}  // namespace lockstep
