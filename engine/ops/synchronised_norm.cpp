#include "engine/ops/synchronised_norm.h"

#include "engine/graph/gradient_context.h"
#include "engine/ops/all_reduce.h"
#include "engine/ops/norm_rules.h"

namespace lockstep {

namespace {

using Types = std::span<const TensorType>;

TensorType sumsType(const TensorType& channels) { return {{2 * channels.shape[0] + 1}, DType::F64}; }

std::vector<TensorType> inferSums(Types in, const Attrs&) {
    constexpr std::string_view op = "batch_norm_sums";
    expectInputs(op, in, 2);
    const TensorType channels = normChannels(op, in[0]);
    expectType(op, "runningMean", in[1], normStatistics(channels));
    return {sumsType(channels)};
}

std::vector<TensorType> inferTrainFromSums(Types in, const Attrs& attrs) {
    constexpr std::string_view op = "batch_norm_train_from_sums";
    expectInputs(op, in, 6);
    checkNorm(op, in, attrs);
    expectType(op, "sums", in[5], sumsType(in[1]));
    const TensorType statistics = normStatistics(in[1]);
    return {in[0], statistics, statistics, statistics, statistics};
}

std::vector<TensorType> inferBackwardSums(Types in, const Attrs&) {
    constexpr std::string_view op = "batch_norm_backward_sums";
    expectInputs(op, in, 4);
    const TensorType channels = normChannels(op, in[0]);
    expectType(op, "mean", in[1], normStatistics(channels));
    expectType(op, "invStd", in[2], normStatistics(channels));
    expectType(op, "dy", in[3], in[0]);
    return {sumsType(channels), channels, channels};
}

std::vector<TensorType> inferBackwardFromSums(Types in, const Attrs&) {
    constexpr std::string_view op = "batch_norm_backward_from_sums";
    expectInputs(op, in, 6);
    const TensorType channels = normChannels(op, in[0]);
    expectType(op, "gamma", in[1], channels);
    expectType(op, "mean", in[2], normStatistics(channels));
    expectType(op, "invStd", in[3], normStatistics(channels));
    expectType(op, "dy", in[4], in[0]);
    expectType(op, "sums", in[5], sumsType(channels));
    return {in[0]};
}

// All that depends on x through the sums is in dx, so no gradient flows through them.
void trainFromSumsGradient(GradientContext& context) {
    const auto dy = context.outputGradient(0);
    if (!dy) return;
    const ValueId x = context.input(0), mean = context.output(1), invStd = context.output(2);
    const auto own = context.append(kBatchNormBackwardSums, {x, mean, invStd, *dy});
    if (context.wants(1)) context.setInputGradient(1, own[1]);
    if (context.wants(2)) context.setInputGradient(2, own[2]);
    if (!context.wants(0)) return;
    const ValueId sums = context.append(kAllReduce, {own[0]})[0];
    const std::vector<ValueId> inputs{x, context.input(1), mean, invStd, *dy, sums};
    context.setInputGradient(0, context.append(kBatchNormBackwardFromSums, inputs)[0]);
}

}  // namespace

constinit const OpDef kBatchNormSums{.name = "batch_norm_sums", .infer = inferSums};
constinit const OpDef kBatchNormTrainFromSums{
    .name = "batch_norm_train_from_sums", .infer = inferTrainFromSums, .gradient = trainFromSumsGradient};
constinit const OpDef kBatchNormBackwardSums{.name = "batch_norm_backward_sums", .infer = inferBackwardSums};
constinit const OpDef kBatchNormBackwardFromSums{.name = "batch_norm_backward_from_sums",
                                                 .infer = inferBackwardFromSums};

ValueId synchronisedNorm(GraphBuilder& b, ValueId x, ValueId gamma, ValueId beta, ValueId runningMean,
                         ValueId runningVariance, const BatchNormAttrs& attrs, const std::string& name) {
    if (!b.training() || b.isFrozen(name))
        return batchNorm(b, x, gamma, beta, runningMean, runningVariance, attrs, name);
    const ValueId own = b.append(kBatchNormSums, {x, runningMean}, {}, name)[0];
    const ValueId sums = b.append(kAllReduce, {own}, {}, name)[0];
    const std::vector<ValueId> inputs{x, gamma, beta, runningMean, runningVariance, sums};
    const auto outputs = b.append(kBatchNormTrainFromSums, inputs, Attrs::of(attrs), name);
    b.graph().assign(runningMean, outputs[3]);
    b.graph().assign(runningVariance, outputs[4]);
    return outputs[0];
}

}  // namespace lockstep
