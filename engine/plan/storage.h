#pragma once
#include <span>

#include "engine/backend/backend.h"
#include "engine/graph/graph.h"
#include "engine/plan/program.h"

namespace lockstep {

// For each value the one whose memory it is: a view stands for its input, everything else for itself.
std::vector<ValueId> viewRoots(const Graph& graph);

// Parameters in the order in which their gradients become ready (without gradients: in the graph's), frozen ones and
// buffers in the graph's (those first that are assigned), and the buckets: one is closed once it holds `bucketBytes`,
// the first a quarter of that, so that the first reduction starts early. Nothing here depends on the batch. `rule`:
// what updates the parameters; null: nothing.
StoragePlan planStorage(const Graph& lowered, DType dtype, const UpdateRule* rule, std::size_t bucketBytes);

ParameterLayouts layoutsOf(const StoragePlan& storage);

// Every parameter, frozen or not, and buffer of the graph lies in the storage as the graph has it; `all`: and the other
// way round. Throws EngineError(Internal) naming the first that does not.
void verifyStorage(const StoragePlan& storage, const Graph& lowered, bool all);

}  // namespace lockstep
