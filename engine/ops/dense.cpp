#include "engine/ops/dense.h"

#include "engine/graph/gradient_context.h"
#include "engine/ops/product_flops.h"
#include "engine/ops/rules.h"

namespace lockstep {

namespace {

using Types = std::span<const TensorType>;

std::vector<TensorType> inferDense(Types in, const Attrs&) {
    constexpr std::string_view op = "dense";
    expectInputs(op, in, 2, 3);
    expectFloat(op, "x", in[0], 2);
    expectFloat(op, "w", in[1], 2);
    const std::int64_t out = in[1].shape[0];
    expectType(op, "w", in[1], {{out, in[0].shape[1]}, in[0].dtype});
    if (in.size() == 3) expectType(op, "bias", in[2], {{out}, in[0].dtype});
    return {{{in[0].shape[0], out}, in[0].dtype}};
}

std::vector<TensorType> inferDenseBackwardData(Types in, const Attrs&) {
    constexpr std::string_view op = "dense_backward_data";
    expectInputs(op, in, 2);
    expectFloat(op, "dy", in[0], 2);
    expectFloat(op, "w", in[1], 2);
    expectType(op, "w", in[1], {{in[0].shape[1], in[1].shape[1]}, in[0].dtype});
    return {{{in[0].shape[0], in[1].shape[1]}, in[0].dtype}};
}

std::vector<TensorType> inferDenseBackwardWeights(Types in, const Attrs&) {
    constexpr std::string_view op = "dense_backward_weights";
    expectInputs(op, in, 2);
    expectFloat(op, "x", in[0], 2);
    expectFloat(op, "dy", in[1], 2);
    expectType(op, "dy", in[1], {{in[0].shape[0], in[1].shape[1]}, in[0].dtype});
    return {{{in[1].shape[1], in[0].shape[1]}, in[0].dtype}};
}

std::vector<TensorType> inferDenseBackwardBias(Types in, const Attrs&) {
    constexpr std::string_view op = "dense_backward_bias";
    expectInputs(op, in, 1);
    expectFloat(op, "dy", in[0], 2);
    return {{{in[0].shape[1]}, in[0].dtype}};
}

void denseGradient(GradientContext& context) {
    const ValueId x = context.input(0), w = context.input(1), dy = *context.outputGradient(0);
    if (context.inputCount() == 3 && context.wants(2)) {
        context.setInputGradient(2, context.append(kDenseBackwardBias, {dy})[0]);
    }
    if (context.wants(1)) context.setInputGradient(1, context.append(kDenseBackwardWeights, {x, dy})[0]);
    if (context.wants(0)) context.setInputGradient(0, context.append(kDenseBackwardData, {dy, w})[0]);
}

}  // namespace

constinit const OpDef kDense{.name = "dense", .infer = inferDense, .gradient = denseGradient, .flops = denseFlops};
constinit const OpDef kDenseBackwardData{
    .name = "dense_backward_data", .infer = inferDenseBackwardData, .flops = denseBackwardDataFlops};
constinit const OpDef kDenseBackwardWeights{
    .name = "dense_backward_weights", .infer = inferDenseBackwardWeights, .flops = denseBackwardWeightsFlops};
constinit const OpDef kDenseBackwardBias{.name = "dense_backward_bias", .infer = inferDenseBackwardBias};

ValueId dense(GraphBuilder& b, ValueId x, ValueId w, std::optional<ValueId> bias, const std::string& name) {
    std::vector<ValueId> inputs{x, w};
    if (bias) inputs.push_back(*bias);
    return b.append(kDense, std::move(inputs), {}, name)[0];
}

}  // namespace lockstep
