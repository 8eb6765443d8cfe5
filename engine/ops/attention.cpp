#include "engine/ops/attention.h"

#include "engine/graph/gradient_context.h"
#include "engine/ops/rules.h"

namespace lockstep {

namespace {

using Types = std::span<const TensorType>;

struct Outputs {
    TensorType y, logSumExp;
};

Outputs outputsOf(std::string_view op, const TensorType& qkv, const Attrs& attrs) {
    expectFloat(op, "qkv", qkv, 3);
    const int heads = attrs.as<AttentionAttrs>().heads;
    expectAttribute(heads >= 1, op, "heads", std::to_string(heads), "at least 1");
    const Shape& shape = qkv.shape;
    expectAttribute(shape[2] % (3 * heads) == 0, op, "heads", std::to_string(heads),
                    "a divisor of a third of " + std::to_string(shape[2]));
    return {{{shape[0], shape[1], shape[2] / 3}, qkv.dtype}, {{shape[0], heads, shape[1]}, atLeastF32(qkv.dtype)}};
}

void checkLengths(std::string_view op, Types in, std::size_t at) {
    if (in.size() > at) expectType(op, "lengths", in[at], {{in[0].shape[0]}, DType::I32});
}

std::vector<TensorType> inferAttention(Types in, const Attrs& attrs) {
    expectInputs("attention", in, 1, 2);
    const auto [y, logSumExp] = outputsOf("attention", in[0], attrs);
    checkLengths("attention", in, 1);
    return {y, logSumExp};
}

std::vector<TensorType> inferAttentionBackward(Types in, const Attrs& attrs) {
    constexpr std::string_view op = "attention_backward";
    expectInputs(op, in, 4, 5);
    const auto [y, logSumExp] = outputsOf(op, in[0], attrs);
    expectType(op, "y", in[1], y);
    expectType(op, "logSumExp", in[2], logSumExp);
    expectType(op, "dy", in[3], y);
    checkLengths(op, in, 4);
    return {in[0]};
}

// Two products of every token with every token, masked or not.
double attentionFlops(Types, Types out) { return 4.0 * static_cast<double>(out[0].shape.count() * out[0].shape[1]); }

// The weights once more, and two products for the gradients of either pair of operands.
double attentionBackwardFlops(Types in, Types) {
    return 10.0 * static_cast<double>(in[1].shape.count() * in[1].shape[1]);
}

void attentionGradient(GradientContext& context) {
    const auto dy = context.outputGradient(0);
    if (!dy) return;
    std::vector<ValueId> inputs{context.input(0), context.output(0), context.output(1), *dy};
    if (context.inputCount() == 2) inputs.push_back(context.input(1));
    context.setInputGradient(0, context.append(kAttentionBackward, std::move(inputs), context.attrs())[0]);
}

}  // namespace

std::string describe(const AttentionAttrs& attrs) {
    return "heads=" + std::to_string(attrs.heads) + (attrs.causal ? " causal" : "");
}

constinit const OpDef kAttention{
    .name = "attention", .infer = inferAttention, .gradient = attentionGradient, .flops = attentionFlops};
constinit const OpDef kAttentionBackward{
    .name = "attention_backward", .infer = inferAttentionBackward, .flops = attentionBackwardFlops};

ValueId attention(GraphBuilder& b, ValueId qkv, std::optional<ValueId> lengths, const AttentionAttrs& attrs,
                  const std::string& name) {
    std::vector<ValueId> inputs{qkv};
    if (lengths) inputs.push_back(*lengths);
    return b.append(kAttention, std::move(inputs), Attrs::of(attrs), name)[0];
}

}  // namespace lockstep
