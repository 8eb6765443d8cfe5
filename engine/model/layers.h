#pragma once
#include <string>

#include "engine/graph/graph_builder.h"
#include "engine/ops/pool2d.h"

namespace lockstep {

// Ops together with the parameters they need, named "<scope>/<name>/weight" and so on.
struct ConvLayer { int out = 0, kernel = 3, stride = 1, padding = 1, groups = 1; bool bias = false; };
ValueId convLayer(GraphBuilder& b, ValueId x, const ConvLayer& layer, const std::string& name);    // He normal, fan out
ValueId denseLayer(GraphBuilder& b, ValueId x, int out, const std::string& name);                  // PyTorch's fan-in uniform
ValueId batchNormLayer(GraphBuilder& b, ValueId x, const std::string& name);
ValueId convNormRelu(GraphBuilder& b, ValueId x, const ConvLayer& layer, const std::string& name);

}  // namespace lockstep
