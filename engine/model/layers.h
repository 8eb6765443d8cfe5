#pragma once
#include <optional>
#include <string>

#include "engine/core/param_schema.h"
#include "engine/graph/graph_builder.h"
#include "engine/ops/pool2d.h"

namespace lockstep {

// Ops together with the parameters they need, named "<scope>/<name>/weight" and so on.
// Convolutions start He normal with fan out unless said otherwise, all else as in PyTorch; norms have "weight" (gamma),
// "bias" (beta), "running_mean" and "running_var". Weight decay applies to the weights of convolutions and dense layers
// only. Tables of embeddings and positions start normal with a deviation of 0.02 (Radford et al. 2019).
struct ConvLayer {
    int out = 0, kernel = 3, stride = 1, padding = 1, groups = 1;
    bool bias = false;
    Initializer::Kind start = Initializer::Kind::HeNormal;  // Constant: 0
};
ValueId convLayer(GraphBuilder& b, ValueId x, const ConvLayer& layer, const std::string& name);
// Over the last extent of x: N,I or N,T,I.
ValueId denseLayer(GraphBuilder& b, ValueId x, int out, const std::string& name, bool bias = true);
// A dense layer whose weight is another layer's parameter, such as an embedding's table (Press & Wolf, arXiv
// 1608.05859).
ValueId tiedLayer(GraphBuilder& b, ValueId x, ValueId weight, const std::string& name);
ValueId batchNormLayer(GraphBuilder& b, ValueId x, const std::string& name);
ValueId layerNormLayer(GraphBuilder& b, ValueId x, const std::string& name);
// "<name>/weight" of `rows`,C: what stands for each token. Decays only where it is a dense layer's weight, too.
ValueId embeddingTable(GraphBuilder& b, int rows, int width, bool isTied, const std::string& name);
// A learned table, "<name>/weight", of x's shape but for the batch, is added to every sample; with `rows`, the first of
// so many.
ValueId positionLayer(GraphBuilder& b, ValueId x, const std::string& name, int rows = 0);
// "zero_init_residual", of networks whose residual branches end in a convolution: that may start at 0 (as Goyal et al.,
// arXiv 1706.02677, do by a norm's gamma). Where a ReLU comes after the sum, half of its inputs would begin at its
// kink.
ParamField zeroInitResidual();
Initializer::Kind lastOfBranch(const ParamValues& params);
// "<name>/conv", "<name>/norm", "<name>/relu"
ValueId convNormRelu(GraphBuilder& b, ValueId x, const ConvLayer& layer, const std::string& name);

// x + out(attention(qkv(norm1(x)))), then x + dense2(gelu(dense1(norm2(x)))), four times as wide in between: tokens
// N,T,C in a transformer whose norms come first (Radford et al. 2019; Xiong et al., arXiv 2002.04745). With lengths, no
// token sees those that pad its sample.
struct TransformerBlock {
    int heads = 1;
    bool causal = false;
    std::optional<ValueId> lengths{};
};
ValueId transformerBlock(GraphBuilder& b, ValueId x, const TransformerBlock& block, const std::string& name);

}  // namespace lockstep
