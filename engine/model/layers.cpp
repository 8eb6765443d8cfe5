#include "engine/model/layers.h"

#include "engine/ops/activation.h"
#include "engine/ops/attention.h"
#include "engine/ops/batch_norm.h"
#include "engine/ops/conv2d.h"
#include "engine/ops/dense.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/layer_norm.h"
#include "engine/ops/rules.h"
#include "engine/ops/synchronised_norm.h"
#include "engine/ops/tokens.h"

namespace lockstep {

namespace {

Initializer fanInUniform(std::int64_t fanIn) {
    return {.kind = Initializer::Kind::FanInUniform, .value = 0, .fanIn = fanIn, .fanOut = 1};
}

Initializer constant(double value) { return {.kind = Initializer::Kind::Constant, .value = value}; }

constexpr Initializer kDeviation2Percent{Initializer::Kind::HeNormal, 0, 1, 5000};

// layer(rows) of N,C, or of the tokens N,T,C as if each were a sample.
template <class Layer>
ValueId overRows(GraphBuilder& b, ValueId x, const std::string& name, Layer layer) {
    const Shape shape = b.typeOf(x).shape;
    if (shape.rank() != 3) return layer(x);
    const ValueId y = layer(reshape(b, x, {shape[0] * shape[1], shape[2]}, name + "/rows"));
    return reshape(b, y, shape.withDim(2, b.typeOf(y).shape[1]), name + "/tokens");
}

void expectAtLeastOne(int value, std::string_view op, std::string_view attribute) {
    expectAttribute(value >= 1, op, attribute, std::to_string(value), "at least 1");
}

}  // namespace

ValueId convLayer(GraphBuilder& b, ValueId x, const ConvLayer& layer, const std::string& name) {
    expectFloat("conv2d", "x", b.typeOf(x), 4);
    expectAtLeastOne(layer.out, "conv2d", "out");
    expectAtLeastOne(layer.kernel, "conv2d", "kernel");
    expectAtLeastOne(layer.groups, "conv2d", "groups");
    const std::int64_t channels = b.typeOf(x).shape[1] / layer.groups, area = std::int64_t{layer.kernel} * layer.kernel;
    const Initializer start{layer.start, 0, channels * area, layer.out * area};
    const ValueId w = b.parameter(name + "/weight", {layer.out, channels, layer.kernel, layer.kernel}, start, true);
    std::optional<ValueId> bias;
    if (layer.bias) bias = b.parameter(name + "/bias", {layer.out}, fanInUniform(channels * area), false);
    const Conv2dAttrs attrs{
        .stride = {layer.stride, layer.stride}, .padding = {layer.padding, layer.padding}, .groups = layer.groups};
    return conv2d(b, x, w, bias, attrs, name);
}

ValueId denseLayer(GraphBuilder& b, ValueId x, int out, const std::string& name, bool bias) {
    return overRows(b, x, name, [&](ValueId rows) {
        expectFloat("dense", "x", b.typeOf(rows), 2);
        expectAtLeastOne(out, "dense", "out");
        const std::int64_t in = b.typeOf(rows).shape[1];
        const ValueId w = b.parameter(name + "/weight", {out, in}, fanInUniform(in), true);
        std::optional<ValueId> offsets;
        if (bias) offsets = b.parameter(name + "/bias", {out}, fanInUniform(in), false);
        return dense(b, rows, w, offsets, name);
    });
}

ValueId tiedLayer(GraphBuilder& b, ValueId x, ValueId weight, const std::string& name) {
    return overRows(b, x, name, [&](ValueId rows) { return dense(b, rows, weight, std::nullopt, name); });
}

ParamField zeroInitResidual() {
    return {"zero_init_residual",
            false,
            {},
            {},
            {},
            "",
            "Blocks start by handing on what they get: their other branch is 0 at first. Deep networks learn sooner."};
}

Initializer::Kind lastOfBranch(const ParamValues& params) {
    return params.flag("zero_init_residual") ? Initializer::Kind::Constant : Initializer::Kind::HeNormal;
}

ValueId batchNormLayer(GraphBuilder& b, ValueId x, const std::string& name) {
    const Shape channels{b.typeOf(x).shape[1]};
    const ValueId gamma = b.parameter(name + "/weight", channels, constant(1), false);
    const ValueId beta = b.parameter(name + "/bias", channels, constant(0), false);
    const ValueId mean = b.buffer(name + "/running_mean", channels, 0);
    const ValueId variance = b.buffer(name + "/running_var", channels, 1);
    const auto norm = b.synchronises() ? synchronisedNorm : batchNorm;
    return norm(b, x, gamma, beta, mean, variance, {}, name);
}

ValueId layerNormLayer(GraphBuilder& b, ValueId x, const std::string& name) {
    const Shape features{b.typeOf(x).shape[-1]};
    const ValueId gamma = b.parameter(name + "/weight", features, constant(1), false);
    const ValueId beta = b.parameter(name + "/bias", features, constant(0), false);
    return layerNorm(b, x, gamma, beta, {}, name);
}

ValueId embeddingTable(GraphBuilder& b, int rows, int width, bool isTied, const std::string& name) {
    return b.parameter(name + "/weight", {rows, width}, kDeviation2Percent, isTied);
}

ValueId positionLayer(GraphBuilder& b, ValueId x, const std::string& name, int rows) {
    Shape table(b.typeOf(x).shape.dims().subspan(1));
    if (rows > 0) table = table.withDim(0, rows);
    return broadcastAdd(b, x, b.parameter(name + "/weight", table, kDeviation2Percent, false), name);
}

ValueId transformerBlock(GraphBuilder& b, ValueId x, const TransformerBlock& block, const std::string& name) {
    const auto scope = b.enter(name);
    const int width = static_cast<int>(b.typeOf(x).shape[-1]);
    ValueId y = denseLayer(b, layerNormLayer(b, x, "norm1"), 3 * width, "qkv");
    y = attention(b, y, block.lengths, {.heads = block.heads, .causal = block.causal}, "attention");
    x = add(b, x, denseLayer(b, y, width, "out"), "add1");
    y = gelu(b, denseLayer(b, layerNormLayer(b, x, "norm2"), 4 * width, "dense1"), "gelu");
    return add(b, x, denseLayer(b, y, width, "dense2"), "add2");
}

ValueId convNormRelu(GraphBuilder& b, ValueId x, const ConvLayer& layer, const std::string& name) {
    const auto scope = b.enter(name);
    const ValueId y = convLayer(b, x, layer, "conv");
    return relu(b, batchNormLayer(b, y, "norm"), "relu");
}

}  // namespace lockstep
