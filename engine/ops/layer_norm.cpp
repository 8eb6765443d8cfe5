#include "engine/ops/layer_norm.h"

#include "engine/graph/gradient_context.h"
#include "engine/ops/rules.h"

namespace lockstep {

namespace {

using Types = std::span<const TensorType>;

// The type of gamma and beta; checks x.
TensorType featuresOf(std::string_view op, const TensorType& x) {
    expectFloat(op, "x", x, 0);
    if (x.shape.rank() < 2) refuse("graph.rank", {std::string(op), "x", "2 or more", x.text()});
    return {{x.shape[-1]}, x.dtype};
}

TensorType statisticsOf(const TensorType& x) {
    const auto rows = x.shape.dims().first(static_cast<std::size_t>(x.shape.rank() - 1));
    return {Shape(rows), atLeastF32(x.dtype)};
}

std::vector<TensorType> inferLayerNorm(Types in, const Attrs& attrs) {
    constexpr std::string_view op = "layer_norm";
    expectInputs(op, in, 3);
    const TensorType features = featuresOf(op, in[0]), statistics = statisticsOf(in[0]);
    expectType(op, "gamma", in[1], features);
    expectType(op, "beta", in[2], features);
    const double epsilon = attrs.as<LayerNormAttrs>().epsilon;
    expectAttribute(epsilon > 0, op, "epsilon", numberText(epsilon), "greater than 0");
    return {in[0], statistics, statistics};
}

std::vector<TensorType> inferLayerNormBackward(Types in, const Attrs&) {
    constexpr std::string_view op = "layer_norm_backward";
    expectInputs(op, in, 5);
    const TensorType features = featuresOf(op, in[0]), statistics = statisticsOf(in[0]);
    expectType(op, "gamma", in[1], features);
    expectType(op, "mean", in[2], statistics);
    expectType(op, "invStd", in[3], statistics);
    expectType(op, "dy", in[4], in[0]);
    return {in[0], features, features};
}

// The statistics that leave the op are for its own backward pass only.
void layerNormGradient(GradientContext& context) {
    const auto dy = context.outputGradient(0);
    if (!dy) return;
    const auto gradients = context.append(
        kLayerNormBackward, {context.input(0), context.input(1), context.output(1), context.output(2), *dy});
    for (int i = 0; i < 3; ++i) {
        if (context.wants(i)) context.setInputGradient(i, gradients[static_cast<std::size_t>(i)]);
    }
}

}  // namespace

std::string describe(const LayerNormAttrs& attrs) { return "epsilon=" + numberText(attrs.epsilon); }

constinit const OpDef kLayerNorm{
    .name = "layer_norm", .infer = inferLayerNorm, .gradient = layerNormGradient, .inplaceInput = 0};
constinit const OpDef kLayerNormBackward{
    .name = "layer_norm_backward", .infer = inferLayerNormBackward, .inplaceInput = 4};

ValueId layerNorm(GraphBuilder& b, ValueId x, ValueId gamma, ValueId beta, const LayerNormAttrs& attrs,
                  const std::string& name) {
    return b.append(kLayerNorm, {x, gamma, beta}, Attrs::of(attrs), name)[0];
}

}  // namespace lockstep
