#pragma once
#include <span>
#include <string_view>

#include "engine/graph/op_def.h"

namespace lockstep {

// Every operation of the mathematics, forward and backward, in a fixed order: the explicit list that backends, the
// op-case tests and the completeness check go by.
std::span<const OpDef* const> opSet();
const OpDef* findOp(std::string_view name);  // null when there is none

}  // namespace lockstep
