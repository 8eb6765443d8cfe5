#include "engine/ops/attention.h"

#include "engine/graph/gradient_context.h"
#include "engine/ops/rules.h"

namespace lockstep {

namespace {

using Types = std::span<const TensorType>;

struct Outputs { TensorType y, logSumExp; };

Outputs outputsOf(std::string_view op, const TensorType& qkv, const Attrs& attrs) {
    expectFloat(op, "qkv", qkv, 3);
    const int heads = attrs.as<AttentionAttrs>().heads;
    expectAttribute(heads >= 1, op, "heads", std::to_string(heads), "at least 1");
    const Shape& shape = qkv.shape;
    expectAttribute(shape[2] % (3 * heads) == 0, op, "heads", std::to_string(heads),
                    "a divisor of a third of " + std::to_string(shape[2]));
    return {{{shape[0], shape[1], shape[2] / 3}, qkv.dtype}, {{shape[0], heads, shape[1]}, atLeastF32(qkv.dtype)}};
}

std::vector<TensorType> inferAttention(Types in, const Attrs& attrs) {
    expectInputs("attention", in, 1);
    const auto [y, logSumExp] = outputsOf("attention", in[0], attrs);
    return {y, logSumExp};
}

std::vector<TensorType> inferBackward(Types in, const Attrs& attrs) {
    constexpr std::string_view op = "attention_backward";
    expectInputs(op, in, 4);
    const auto [y, logSumExp] = outputsOf(op, in[0], attrs);
    expectType(op, "y", in[1], y);
    expectType(op, "logSumExp", in[2], logSumExp);
    expectType(op, "dy", in[3], y);
    return {in[0]};
}

// Two products of every token with every token, masked or not.
double attentionFlops(Types, Types out) {
    return 4.0 * static_cast<double>(out[0].shape.count() * out[0].shape[1]);
}

void attentionGradient(GradientContext& context) {
    const auto dy = context.outputGradient(0);
    if (!dy) return;
    const std::vector<ValueId> inputs{context.input(0), context.output(0), context.output(1), *dy};
    context.setInputGradient(0, context.append(kAttentionBackward, inputs, context.attrs())[0]);
}

}  // namespace

std::string describe(const AttentionAttrs& attrs) {
    return "heads=" + std::to_string(attrs.heads) + (attrs.causal ? " causal" : "");
}

constinit const OpDef kAttention{.name = "attention", .infer = inferAttention, .gradient = attentionGradient,
                                 .flops = attentionFlops};
constinit const OpDef kAttentionBackward{.name = "attention_backward", .infer = inferBackward};

ValueId attention(GraphBuilder& b, ValueId qkv, const AttentionAttrs& attrs, const std::string& name) {
    return b.append(kAttention, {qkv}, Attrs::of(attrs), name)[0];
}

}  // namespace lockstep
