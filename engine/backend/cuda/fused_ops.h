#pragma once
#include "engine/graph/graph.h"

// What the lowering makes of neighbours, and puts between layouts: definitions of this backend alone, without shape or
// gradient rules.
namespace lockstep::cuda {

extern const OpDef kReorder;    // (x) -> the same tensor in another layout
extern const OpDef kDenseRelu;  // as dense

}  // namespace lockstep::cuda
