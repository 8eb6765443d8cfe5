#include "engine/ops/elementwise.h"

#include "engine/graph/gradient_context.h"
#include "engine/ops/rules.h"

namespace lockstep {

namespace {

using Types = std::span<const TensorType>;

template <const OpDef& kOp>
std::vector<TensorType> inferActivation(Types in, const Attrs&) {
    expectInputs(kOp.name, in, 1);
    expectFloat(kOp.name, "x", in[0], 0);
    return {in[0]};
}

template <const OpDef& kOp>
std::vector<TensorType> inferActivationBackward(Types in, const Attrs&) {
    const std::string_view op = kOp.name;
    expectInputs(op, in, 2);
    expectFloat(op, "y", in[0], 0);
    expectType(op, "dy", in[1], in[0]);
    return {in[0]};
}

std::vector<TensorType> inferAdd(Types in, const Attrs&) {
    expectInputs("add", in, 2);
    expectFloat("add", "a", in[0], 0);
    expectType("add", "b", in[1], in[0]);
    return {in[0]};
}

std::vector<TensorType> inferFill(Types in, const Attrs& attrs) {
    expectInputs("fill", in, 0);
    return {attrs.as<FillAttrs>().type};
}

std::vector<TensorType> inferFlatten(Types in, const Attrs&) {
    expectInputs("flatten", in, 1);
    const Shape& shape = in[0].shape;
    if (shape.rank() < 2) refuse("graph.rank", {"flatten", "x", "2 or more", in[0].text()});
    return {{{shape[0], Shape(shape.dims().subspan(1)).count()}, in[0].dtype}};
}

std::vector<TensorType> inferReshape(Types in, const Attrs& attrs) {
    const Shape& shape = attrs.as<ShapeAttrs>().shape;
    expectInputs("reshape", in, 1);
    if (shape.count() != in[0].shape.count()) refuse("graph.element-count", {"reshape", in[0].text(), shape.text()});
    return {{shape, in[0].dtype}};
}

std::vector<TensorType> inferCast(Types in, const Attrs& attrs) {
    expectInputs("cast", in, 1);
    return {{in[0].shape, attrs.as<CastAttrs>().to}};
}

template <const OpDef& kBackward>
void activationGradient(GradientContext& context) {
    const ValueId y = context.output(0), dy = *context.outputGradient(0);
    context.setInputGradient(0, context.append(kBackward, {y, dy})[0]);
}

void addGradient(GradientContext& context) {
    for (int i = 0; i < 2; ++i) {
        if (context.wants(i)) context.setInputGradient(i, *context.outputGradient(0));
    }
}

void reshapeGradient(GradientContext& context) {
    const Shape shape = context.graph().typeOf(context.input(0)).shape;
    const ValueId dy = *context.outputGradient(0);
    context.setInputGradient(0, context.append(kReshape, {dy}, Attrs::of(ShapeAttrs{shape}))[0]);
}

void castGradient(GradientContext& context) {
    const DType dtype = context.graph().typeOf(context.input(0)).dtype;
    const ValueId dy = *context.outputGradient(0);
    context.setInputGradient(0, context.append(kCast, {dy}, Attrs::of(CastAttrs{dtype}))[0]);
}

}  // namespace

std::string describe(const FillAttrs& attrs) { return "value=" + numberText(attrs.value); }

std::string describe(const CastAttrs& attrs) { return "to=" + std::string(text(attrs.to)); }

constinit const OpDef kRelu{.name = "relu",
                            .infer = inferActivation<kRelu>,
                            .gradient = activationGradient<kReluBackward>,
                            .inplaceInput = 0,
                            .isElementwise = true};
constinit const OpDef kReluBackward{
    .name = "relu_backward", .infer = inferActivationBackward<kReluBackward>, .inplaceInput = 1, .isElementwise = true};
constinit const OpDef kRelu6{.name = "relu6",
                             .infer = inferActivation<kRelu6>,
                             .gradient = activationGradient<kRelu6Backward>,
                             .inplaceInput = 0,
                             .isElementwise = true};
constinit const OpDef kRelu6Backward{.name = "relu6_backward",
                                     .infer = inferActivationBackward<kRelu6Backward>,
                                     .inplaceInput = 1,
                                     .isElementwise = true};
constinit const OpDef kAdd{
    .name = "add", .infer = inferAdd, .gradient = addGradient, .inplaceInput = 0, .isElementwise = true};
constinit const OpDef kFill{.name = "fill", .infer = inferFill};
constinit const OpDef kFlatten{.name = "flatten", .infer = inferFlatten, .gradient = reshapeGradient, .isView = true};
constinit const OpDef kReshape{.name = "reshape", .infer = inferReshape, .gradient = reshapeGradient, .isView = true};
constinit const OpDef kCast{.name = "cast", .infer = inferCast, .gradient = castGradient};

ValueId relu(GraphBuilder& b, ValueId x, const std::string& name) { return b.append(kRelu, {x}, {}, name)[0]; }

ValueId relu6(GraphBuilder& b, ValueId x, const std::string& name) { return b.append(kRelu6, {x}, {}, name)[0]; }

ValueId add(GraphBuilder& b, ValueId x, ValueId y, const std::string& name) {
    return b.append(kAdd, {x, y}, {}, name)[0];
}

ValueId flatten(GraphBuilder& b, ValueId x, const std::string& name) { return b.append(kFlatten, {x}, {}, name)[0]; }

}  // namespace lockstep
