#pragma once
#include <optional>
#include <string>

#include "engine/graph/graph_builder.h"

namespace lockstep {

// y = x wᵀ + bias.  x: N,I; w: O,I; bias: O; y: N,O.
extern const OpDef kDense;                 // (x, w[, bias]) -> y
extern const OpDef kDenseBackwardData;     // (dy, w) -> dx = dy w
extern const OpDef kDenseBackwardWeights;  // (x, dy) -> dw = dyᵀ x
extern const OpDef kDenseBackwardBias;     // (dy) -> dbias: sum over N

ValueId dense(GraphBuilder& b, ValueId x, ValueId w, std::optional<ValueId> bias, const std::string& name);

}  // namespace lockstep
