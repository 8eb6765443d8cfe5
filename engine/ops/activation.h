#pragma once
#include <string>

#include "engine/graph/graph_builder.h"

namespace lockstep {

// Smooth activations. Backward reads x, for y does not tell it.
extern const OpDef kGelu;          // (x) -> y = x Phi(x) = x (1 + erf(x / sqrt 2)) / 2   (arXiv 1606.08415)
extern const OpDef kGeluBackward;  // (x, dy) -> dx
extern const OpDef kSilu;          // (x) -> y = x / (1 + exp(-x))                        (arXiv 1702.03118)
extern const OpDef kSiluBackward;  // (x, dy) -> dx

ValueId gelu(GraphBuilder& b, ValueId x, const std::string& name);
ValueId silu(GraphBuilder& b, ValueId x, const std::string& name);

}  // namespace lockstep
