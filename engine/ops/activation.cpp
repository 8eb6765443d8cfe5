#include "engine/ops/activation.h"

#include <algorithm>

#include "engine/graph/gradient_context.h"
#include "engine/ops/rules.h"

namespace lockstep {

namespace {

using Types = std::span<const TensorType>;

template <const OpDef& kOp>
std::vector<TensorType> inferForward(Types in, const Attrs&) {
    expectInputs(kOp.name, in, 1);
    expectFloat(kOp.name, "x", in[0], 0);
    return {in[0]};
}

template <const OpDef& kOp>
std::vector<TensorType> inferBackward(Types in, const Attrs&) {
    expectInputs(kOp.name, in, 2);
    expectFloat(kOp.name, "x", in[0], 0);
    expectType(kOp.name, "dy", in[1], in[0]);
    return {in[0]};
}

template <const OpDef& kBackward>
void gradient(GradientContext& context) {
    const ValueId x = context.input(0), dy = *context.outputGradient(0);
    context.setInputGradient(0, context.append(kBackward, {x, dy})[0]);
}

template <const OpDef& kOp, const OpDef& kBackward>
constexpr OpDef forwardOp(std::string_view name) {
    return {.name = name,
            .infer = inferForward<kOp>,
            .gradient = gradient<kBackward>,
            .inplaceInput = 0,
            .isElementwise = true};
}

template <const OpDef& kOp>
constexpr OpDef backwardOp(std::string_view name) {
    return {.name = name, .infer = inferBackward<kOp>, .inplaceInput = 1, .isElementwise = true};
}

}  // namespace

constinit const OpDef kGelu = forwardOp<kGelu, kGeluBackward>("gelu");
constinit const OpDef kGeluBackward = backwardOp<kGeluBackward>("gelu_backward");
constinit const OpDef kSilu = forwardOp<kSilu, kSiluBackward>("silu");
constinit const OpDef kSiluBackward = backwardOp<kSiluBackward>("silu_backward");

ActivationKind activationKind(const OpDef& op) {
    const auto isIts = [&](const Activation& each) { return each.forward == &op || each.backward == &op; };
    return std::ranges::find_if(kActivations, isIts)->kind;
}

ValueId gelu(GraphBuilder& b, ValueId x, const std::string& name) { return b.append(kGelu, {x}, {}, name)[0]; }
ValueId silu(GraphBuilder& b, ValueId x, const std::string& name) { return b.append(kSilu, {x}, {}, name)[0]; }

}  // namespace lockstep
