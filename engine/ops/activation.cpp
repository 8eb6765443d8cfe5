#include "engine/ops/activation.h"

#include "engine/graph/gradient_context.h"
#include "engine/ops/rules.h"

namespace lockstep {

namespace {

using Types = std::span<const TensorType>;

std::vector<TensorType> inferForward(std::string_view op, Types in) {
    expectInputs(op, in, 1);
    expectFloat(op, "x", in[0], 0);
    return {in[0]};
}

std::vector<TensorType> inferBackward(std::string_view op, Types in) {
    expectInputs(op, in, 2);
    expectFloat(op, "x", in[0], 0);
    expectType(op, "dy", in[1], in[0]);
    return {in[0]};
}

std::vector<TensorType> inferGelu(Types in, const Attrs&) { return inferForward("gelu", in); }
std::vector<TensorType> inferGeluBackward(Types in, const Attrs&) { return inferBackward("gelu_backward", in); }
std::vector<TensorType> inferSilu(Types in, const Attrs&) { return inferForward("silu", in); }
std::vector<TensorType> inferSiluBackward(Types in, const Attrs&) { return inferBackward("silu_backward", in); }

void appendBackward(GradientContext& context, const OpDef& backward) {
    const ValueId x = context.input(0), dy = *context.outputGradient(0);
    context.setInputGradient(0, context.append(backward, {x, dy})[0]);
}

void geluGradient(GradientContext& context) { appendBackward(context, kGeluBackward); }
void siluGradient(GradientContext& context) { appendBackward(context, kSiluBackward); }

}  // namespace

constinit const OpDef kGelu{.name = "gelu", .infer = inferGelu, .gradient = geluGradient, .inplaceInput = 0};
constinit const OpDef kGeluBackward{.name = "gelu_backward", .infer = inferGeluBackward, .inplaceInput = 1};
constinit const OpDef kSilu{.name = "silu", .infer = inferSilu, .gradient = siluGradient, .inplaceInput = 0};
constinit const OpDef kSiluBackward{.name = "silu_backward", .infer = inferSiluBackward, .inplaceInput = 1};

ValueId gelu(GraphBuilder& b, ValueId x, const std::string& name) { return b.append(kGelu, {x}, {}, name)[0]; }
ValueId silu(GraphBuilder& b, ValueId x, const std::string& name) { return b.append(kSilu, {x}, {}, name)[0]; }

}  // namespace lockstep
