#include "engine/ops/mixed_loss.h"

#include "engine/graph/gradient_context.h"
#include "engine/ops/rules.h"

namespace lockstep {

namespace {

using Types = std::span<const TensorType>;

void check(std::string_view op, Types in, const Attrs& attrs) {
    expectFloat(op, "logits", in[0], 2);
    const Shape samples{in[0].shape[0]};
    expectType(op, "labels", in[1], {samples, DType::I32});
    expectType(op, "others", in[2], {samples, DType::I32});
    expectType(op, "lambda", in[3], {samples, in[0].dtype});
    expectSmoothing(op, attrs.as<CrossEntropyAttrs>());
}

std::vector<TensorType> inferMixedCrossEntropy(Types in, const Attrs& attrs) {
    constexpr std::string_view op = "mixed_cross_entropy";
    expectInputs(op, in, 4);
    check(op, in, attrs);
    return {lossSumType(), lossSumType()};
}

std::vector<TensorType> inferMixedCrossEntropyBackward(Types in, const Attrs& attrs) {
    constexpr std::string_view op = "mixed_cross_entropy_backward";
    expectInputs(op, in, 5);
    check(op, in, attrs);
    expectType(op, "dLossSum", in[4], lossSumType());
    return {in[0]};
}

void mixedCrossEntropyGradient(GradientContext& context) {
    const auto dSum = context.outputGradient(0);
    if (!dSum) return;
    const std::vector<ValueId> inputs{context.input(0), context.input(1), context.input(2), context.input(3), *dSum};
    context.setInputGradient(0, context.append(kMixedCrossEntropyBackward, inputs, context.attrs())[0]);
}

}  // namespace

constinit const OpDef kMixedCrossEntropy{
    .name = "mixed_cross_entropy", .infer = inferMixedCrossEntropy, .gradient = mixedCrossEntropyGradient};
constinit const OpDef kMixedCrossEntropyBackward{.name = "mixed_cross_entropy_backward",
                                                 .infer = inferMixedCrossEntropyBackward};

LossValues mixedCrossEntropy(GraphBuilder& b, ValueId logits, const MixedLabels& mixed, double smoothing,
                             const std::string& name, bool masked) {
    const auto outputs = b.append(kMixedCrossEntropy, {logits, mixed.labels, mixed.others, mixed.lambda},
                                  Attrs::of(CrossEntropyAttrs{smoothing, masked}), name);
    return {outputs[0], outputs[1]};
}

}  // namespace lockstep
