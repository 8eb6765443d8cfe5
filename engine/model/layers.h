#pragma once
#include <string>

#include "engine/graph/graph_builder.h"
#include "engine/ops/pool2d.h"

namespace lockstep {

// Ops together with the parameters they need, named "<scope>/<name>/weight" and so on.
// Convolutions start He normal with fan out, all else as in PyTorch; norms have "weight" (gamma), "bias" (beta),
// "running_mean" and "running_var". Weight decay applies to the weights of convolutions and dense layers only.
struct ConvLayer { int out = 0, kernel = 3, stride = 1, padding = 1, groups = 1; bool bias = false; };
ValueId convLayer(GraphBuilder& b, ValueId x, const ConvLayer& layer, const std::string& name);
// Over the last extent of x: N,I or N,T,I.
ValueId denseLayer(GraphBuilder& b, ValueId x, int out, const std::string& name);
ValueId batchNormLayer(GraphBuilder& b, ValueId x, const std::string& name);
ValueId layerNormLayer(GraphBuilder& b, ValueId x, const std::string& name);
// A learned table of x's shape but for the batch, "<name>/weight", is added to every sample.
ValueId positionLayer(GraphBuilder& b, ValueId x, const std::string& name);
// "<name>/conv", "<name>/norm", "<name>/relu"
ValueId convNormRelu(GraphBuilder& b, ValueId x, const ConvLayer& layer, const std::string& name);

// x + out(attention(qkv(norm1(x)))), then x + dense2(gelu(dense1(norm2(x)))), four times as wide in between: tokens N,T,C
// in a transformer whose norms come first (Radford et al. 2019; Xiong et al., arXiv 2002.04745).
struct TransformerBlock { int heads = 1; bool causal = false; };
ValueId transformerBlock(GraphBuilder& b, ValueId x, const TransformerBlock& block, const std::string& name);

}  // namespace lockstep
