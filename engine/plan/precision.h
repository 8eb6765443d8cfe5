#pragma once
#include "engine/graph/graph.h"

namespace lockstep {

// The same graph computed in `compute`: parameters (frozen or not), buffers and intermediates that were f32 take that
// type, buffers none below f32. Inputs keep theirs, as batches do, and are cast before their first use; f64 sums and
// counts stay f64.
Graph toPrecision(const Graph& graph, DType compute);

}  // namespace lockstep
