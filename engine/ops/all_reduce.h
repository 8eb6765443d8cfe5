#pragma once
#include "engine/graph/op_def.h"

namespace lockstep {

// The sum over all ranks, in the memory of its input, which therefore nobody else may read: a view. No backend has a
// kernel for it: the planner makes it a step of the collective lane, and nothing at all in a world of one.
extern const OpDef kAllReduce;  // (x: f64[n]) -> the same type

}  // namespace lockstep
