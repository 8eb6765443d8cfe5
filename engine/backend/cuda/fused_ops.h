#pragma once
#include "engine/graph/graph.h"

// What the lowering puts between layouts: a definition of this backend alone, without shape or gradient rules.
namespace lockstep::cuda {

extern const OpDef kReorder;  // (x) -> the same tensor in another layout

}  // namespace lockstep::cuda
