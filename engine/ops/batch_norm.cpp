#include "engine/ops/batch_norm.h"

#include "engine/graph/gradient_context.h"
#include "engine/ops/norm_rules.h"

namespace lockstep {

TensorType normChannels(std::string_view op, const TensorType& x) {
    expectFloat(op, "x", x, x.shape.rank() == 2 ? 2 : 4);
    return {{x.shape[1]}, x.dtype};
}

TensorType normStatistics(const TensorType& channels) { return {channels.shape, atLeastF32(channels.dtype)}; }

void checkNorm(std::string_view op, std::span<const TensorType> in, const Attrs& attrs) {
    const TensorType channels = normChannels(op, in[0]);
    constexpr std::string_view names[] = {"x", "gamma", "beta", "runningMean", "runningVariance"};
    for (std::size_t i = 1; i < 5; ++i) {
        expectType(op, names[i], in[i], i < 3 ? channels : normStatistics(channels));
    }
    const auto& [epsilon, momentum] = attrs.as<BatchNormAttrs>();
    expectAttribute(epsilon > 0, op, "epsilon", numberText(epsilon), "greater than 0");
    expectAttribute(momentum >= 0 && momentum <= 1, op, "momentum", numberText(momentum), "between 0 and 1");
}

namespace {

using Types = std::span<const TensorType>;

std::vector<TensorType> inferTrain(Types in, const Attrs& attrs) {
    expectInputs("batch_norm_train", in, 5);
    checkNorm("batch_norm_train", in, attrs);
    const TensorType statistics = normStatistics(in[1]);
    return {in[0], statistics, statistics, statistics, statistics};
}

std::vector<TensorType> inferEval(Types in, const Attrs& attrs) {
    expectInputs("batch_norm_eval", in, 5);
    checkNorm("batch_norm_eval", in, attrs);
    return {in[0]};
}

std::vector<TensorType> inferBatchNormBackward(Types in, const Attrs&) {
    constexpr std::string_view op = "batch_norm_backward";
    expectInputs(op, in, 5);
    const TensorType channels = normChannels(op, in[0]);
    constexpr std::string_view names[] = {"x", "gamma", "mean", "invStd"};
    for (std::size_t i = 1; i < 4; ++i) {
        expectType(op, names[i], in[i], i < 2 ? channels : normStatistics(channels));
    }
    expectType(op, "dy", in[4], in[0]);
    return {in[0], channels, channels};
}

// The statistics that leave the op are not differentiated: nothing but the running averages uses them.
void trainGradient(GradientContext& context) {
    const auto dy = context.outputGradient(0);
    if (!dy) return;
    const auto gradients = context.append(
        kBatchNormBackward, {context.input(0), context.input(1), context.output(1), context.output(2), *dy});
    for (int i = 0; i < 3; ++i) {
        if (context.wants(i)) context.setInputGradient(i, gradients[static_cast<std::size_t>(i)]);
    }
}

std::vector<TensorType> inferEvalBackward(Types in, const Attrs&) {
    constexpr std::string_view op = "batch_norm_eval_backward";
    expectInputs(op, in, 3);
    const TensorType channels = normChannels(op, in[0]);
    expectType(op, "gamma", in[1], channels);
    expectType(op, "runningVariance", in[2], normStatistics(channels));
    return {in[0]};
}

// Whoever keeps the statistics keeps gamma and beta: a gradient only passes through, to what lies below.
void evalGradient(GradientContext& context) {
    const auto dy = context.outputGradient(0);
    if (!dy || !context.wants(0)) return;
    const std::vector<ValueId> inputs{*dy, context.input(1), context.input(4)};
    context.setInputGradient(0, context.append(kBatchNormEvalBackward, inputs, context.attrs())[0]);
}

}  // namespace

std::string describe(const BatchNormAttrs& attrs) {
    return "epsilon=" + numberText(attrs.epsilon) + " momentum=" + numberText(attrs.momentum);
}

constinit const OpDef kBatchNormTrain{.name = "batch_norm_train", .infer = inferTrain, .gradient = trainGradient};
constinit const OpDef kBatchNormEval{
    .name = "batch_norm_eval", .infer = inferEval, .gradient = evalGradient, .inplaceInput = 0};
constinit const OpDef kBatchNormEvalBackward{
    .name = "batch_norm_eval_backward", .infer = inferEvalBackward, .inplaceInput = 0};
constinit const OpDef kBatchNormBackward{.name = "batch_norm_backward", .infer = inferBatchNormBackward};

ValueId batchNorm(GraphBuilder& b, ValueId x, ValueId gamma, ValueId beta, ValueId runningMean, ValueId runningVariance,
                  const BatchNormAttrs& attrs, const std::string& name) {
    const std::vector<ValueId> inputs{x, gamma, beta, runningMean, runningVariance};
    const bool trains = b.training() && !b.isFrozen(name);
    const auto outputs = b.append(trains ? kBatchNormTrain : kBatchNormEval, inputs, Attrs::of(attrs), name);
    if (trains) {
        b.graph().assign(runningMean, outputs[3]);
        b.graph().assign(runningVariance, outputs[4]);
    }
    return outputs[0];
}

}  // namespace lockstep
