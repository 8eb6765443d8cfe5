#include "engine/ops/loss.h"

#include "engine/graph/gradient_context.h"
#include "engine/ops/rules.h"

namespace lockstep {

namespace {

using Types = std::span<const TensorType>;

void checkLogits(std::string_view op, Types in) {
    expectFloat(op, "logits", in[0], 0);
    const int rank = in[0].shape.rank();
    if (rank < 2) refuse("graph.rank", {std::string(op), "logits", "2 or more", in[0].text()});
    const Shape rows(in[0].shape.dims().first(static_cast<std::size_t>(rank - 1)));
    expectType(op, "labels", in[1], {rows, DType::I32});
}

std::vector<TensorType> inferCrossEntropy(Types in, const Attrs& attrs) {
    constexpr std::string_view op = "cross_entropy";
    expectInputs(op, in, 2);
    checkLogits(op, in);
    expectSmoothing(op, attrs.as<CrossEntropyAttrs>());
    return {lossSumType(), lossSumType()};
}

std::vector<TensorType> inferCrossEntropyBackward(Types in, const Attrs& attrs) {
    constexpr std::string_view op = "cross_entropy_backward";
    expectInputs(op, in, 3);
    checkLogits(op, in);
    expectSmoothing(op, attrs.as<CrossEntropyAttrs>());
    expectType(op, "dLossSum", in[2], lossSumType());
    return {in[0]};
}

std::vector<TensorType> inferTopK(Types in, const Attrs& attrs) {
    constexpr std::string_view op = "top_k_count";
    const int k = attrs.as<TopKAttrs>().k;
    expectInputs(op, in, 2);
    checkLogits(op, in);
    expectAttribute(k >= 1 && k <= in[0].shape[-1], op, "k", std::to_string(k), "between 1 and the number of classes");
    return {lossSumType()};
}

void crossEntropyGradient(GradientContext& context) {
    const auto dSum = context.outputGradient(0);
    if (!dSum) return;
    const std::vector<ValueId> inputs{context.input(0), context.input(1), *dSum};
    context.setInputGradient(0, context.append(kCrossEntropyBackward, inputs, context.attrs())[0]);
}

}  // namespace

void expectSmoothing(std::string_view op, const CrossEntropyAttrs& attrs) {
    expectAttribute(attrs.smoothing >= 0 && attrs.smoothing < 1, op, "smoothing", numberText(attrs.smoothing),
                    "at least 0 and less than 1");
}

std::string describe(const CrossEntropyAttrs& attrs) {
    const std::string smoothing = attrs.smoothing == 0 ? "" : "smoothing=" + numberText(attrs.smoothing);
    if (!attrs.masked) return smoothing;
    return smoothing.empty() ? "masked" : smoothing + " masked";
}

std::string describe(const TopKAttrs& attrs) {
    return "k=" + std::to_string(attrs.k) + (attrs.masked ? " masked" : "");
}

constinit const OpDef kCrossEntropy{
    .name = "cross_entropy", .infer = inferCrossEntropy, .gradient = crossEntropyGradient};
constinit const OpDef kCrossEntropyBackward{.name = "cross_entropy_backward", .infer = inferCrossEntropyBackward};
constinit const OpDef kTopKCount{.name = "top_k_count", .infer = inferTopK};

LossValues crossEntropy(GraphBuilder& b, ValueId logits, ValueId labels, double smoothing, const std::string& name,
                        bool masked) {
    const auto outputs =
        b.append(kCrossEntropy, {logits, labels}, Attrs::of(CrossEntropyAttrs{smoothing, masked}), name);
    return {outputs[0], outputs[1]};
}

ValueId topKCount(GraphBuilder& b, ValueId logits, ValueId labels, int k, const std::string& name, bool masked) {
    return b.append(kTopKCount, {logits, labels}, Attrs::of(TopKAttrs{k, masked}), name)[0];
}

}  // namespace lockstep
