#include "engine/ops/dropout.h"

#include "engine/graph/gradient_context.h"
#include "engine/ops/rules.h"

namespace lockstep {

namespace {

using Types = std::span<const TensorType>;

std::vector<TensorType> inferAny(std::string_view op, std::string_view input, Types in, const Attrs& attrs) {
    const double rate = attrs.as<DropoutAttrs>().rate;
    expectInputs(op, in, 2);
    expectFloat(op, input, in[0], 0);
    expectType(op, "ids", in[1], {{in[0].shape[0]}, DType::I64});
    expectAttribute(rate >= 0 && rate < 1, op, "rate", numberText(rate), "at least 0 and less than 1");
    return {in[0]};
}

std::vector<TensorType> inferDropout(Types in, const Attrs& attrs) { return inferAny("dropout", "x", in, attrs); }

std::vector<TensorType> inferDropoutBackward(Types in, const Attrs& attrs) {
    return inferAny("dropout_backward", "dy", in, attrs);
}

void dropoutGradient(GradientContext& context) {
    if (!context.wants(0)) return;
    const std::vector<ValueId> inputs{*context.outputGradient(0), context.input(1)};
    context.setInputGradient(0, context.append(kDropoutBackward, inputs, context.attrs())[0]);
}

}  // namespace

std::string describe(const DropoutAttrs& attrs) { return "rate=" + numberText(attrs.rate); }

constinit const OpDef kDropout{
    .name = "dropout", .infer = inferDropout, .gradient = dropoutGradient, .inplaceInput = 0};
constinit const OpDef kDropoutBackward{.name = "dropout_backward", .infer = inferDropoutBackward, .inplaceInput = 0};

ValueId dropout(GraphBuilder& b, ValueId x, ValueId ids, double rate, const std::string& name) {
    if (!b.training()) return x;
    const DropoutAttrs attrs{rate, streamOf(b.scopeFor(kDropout, name))};
    return b.append(kDropout, {x, ids}, Attrs::of(attrs), name)[0];
}

}  // namespace lockstep
