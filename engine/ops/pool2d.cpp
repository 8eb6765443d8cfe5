#include "engine/ops/pool2d.h"

#include <algorithm>

#include "engine/graph/gradient_context.h"
#include "engine/ops/rules.h"
#include "engine/ops/shape_attrs.h"

namespace lockstep {

namespace {

using Types = std::span<const TensorType>;

Shape outputShape(std::string_view op, const Shape& x, const Pool2dAttrs& attrs) {
    const auto& [window, stride, padding, countPadding] = attrs;
    expectAttribute(std::min(window[0], window[1]) >= 1, op, "window", pairText(window), "at least 1");
    expectAttribute(std::min(stride[0], stride[1]) >= 1, op, "stride", pairText(stride), "at least 1");
    // Every window must see a real pixel.
    const bool sees = std::min(padding[0], padding[1]) >= 0 && padding[0] < window[0] && padding[1] < window[1];
    expectAttribute(sees, op, "padding", pairText(padding), "at least 0 and smaller than the window");
    const auto positions = windowPositions(op, x, {window[0], window[1]}, stride, padding);
    return {x[0], x[1], positions[0], positions[1]};
}

TensorType inferPool(std::string_view op, Types in, const Attrs& attrs) {
    expectInputs(op, in, 1);
    expectFloat(op, "x", in[0], 4);
    return {outputShape(op, in[0].shape, attrs.as<Pool2dAttrs>()), in[0].dtype};
}

TensorType inferPoolBackward(std::string_view op, const TensorType& dy, const Attrs& attrs) {
    const auto& [pool, shape] = attrs.as<Pool2dBackwardAttrs>();
    expectFloat(op, "dy", dy, 4);
    expectFloat(op, "dx", {shape, dy.dtype}, 4);
    expectType(op, "dy", dy, {outputShape(op, shape, pool), dy.dtype});
    return {shape, dy.dtype};
}

std::vector<TensorType> inferMax(Types in, const Attrs& attrs) {
    const TensorType y = inferPool("max_pool2d", in, attrs);
    return {y, {y.shape, DType::I32}};
}

std::vector<TensorType> inferMaxBackward(Types in, const Attrs& attrs) {
    constexpr std::string_view op = "max_pool2d_backward";
    expectInputs(op, in, 2);
    expectType(op, "argmax", in[1], {in[0].shape, DType::I32});
    return {inferPoolBackward(op, in[0], attrs)};
}

std::vector<TensorType> inferAverage(Types in, const Attrs& attrs) { return {inferPool("average_pool2d", in, attrs)}; }

std::vector<TensorType> inferAverageBackward(Types in, const Attrs& attrs) {
    constexpr std::string_view op = "average_pool2d_backward";
    expectInputs(op, in, 1);
    return {inferPoolBackward(op, in[0], attrs)};
}

std::vector<TensorType> inferGlobal(Types in, const Attrs&) {
    constexpr std::string_view op = "global_average_pool2d";
    expectInputs(op, in, 1);
    expectFloat(op, "x", in[0], 4);
    return {{{in[0].shape[0], in[0].shape[1]}, in[0].dtype}};
}

std::vector<TensorType> inferGlobalBackward(Types in, const Attrs& attrs) {
    constexpr std::string_view op = "global_average_pool2d_backward";
    const Shape& shape = attrs.as<ShapeAttrs>().shape;
    expectInputs(op, in, 1);
    expectFloat(op, "dy", in[0], 2);
    expectFloat(op, "dx", {shape, in[0].dtype}, 4);
    expectType(op, "dy", in[0], {{shape[0], shape[1]}, in[0].dtype});
    return {{shape, in[0].dtype}};
}

Attrs backwardAttrs(const GradientContext& context) {
    return Attrs::of(
        Pool2dBackwardAttrs{context.attrs().as<Pool2dAttrs>(), context.graph().typeOf(context.input(0)).shape});
}

void maxGradient(GradientContext& context) {
    if (!context.outputGradient(0)) return;
    const std::vector<ValueId> inputs{*context.outputGradient(0), context.output(1)};
    context.setInputGradient(0, context.append(kMaxPool2dBackward, inputs, backwardAttrs(context))[0]);
}

void averageGradient(GradientContext& context) {
    const ValueId dy = *context.outputGradient(0);
    context.setInputGradient(0, context.append(kAveragePool2dBackward, {dy}, backwardAttrs(context))[0]);
}

void globalGradient(GradientContext& context) {
    const Shape shape = context.graph().typeOf(context.input(0)).shape;
    const ValueId dy = *context.outputGradient(0);
    context.setInputGradient(0, context.append(kGlobalAveragePool2dBackward, {dy}, Attrs::of(ShapeAttrs{shape}))[0]);
}

}  // namespace

std::string describe(const Pool2dAttrs& attrs) {
    std::string out = "window=" + pairText(attrs.window) + " stride=" + pairText(attrs.stride);
    if (attrs.padding != std::array{0, 0}) out += " pad=" + pairText(attrs.padding);
    if (attrs.countPadding) out += " count_padding";
    return out;
}

std::string describe(const Pool2dBackwardAttrs& attrs) { return describe(attrs.pool) + " shape=" + attrs.shape.text(); }

constinit const OpDef kMaxPool2d{.name = "max_pool2d", .infer = inferMax, .gradient = maxGradient};
constinit const OpDef kMaxPool2dBackward{.name = "max_pool2d_backward", .infer = inferMaxBackward};
constinit const OpDef kAveragePool2d{.name = "average_pool2d", .infer = inferAverage, .gradient = averageGradient};
constinit const OpDef kAveragePool2dBackward{.name = "average_pool2d_backward", .infer = inferAverageBackward};
constinit const OpDef kGlobalAveragePool2d{
    .name = "global_average_pool2d", .infer = inferGlobal, .gradient = globalGradient};
constinit const OpDef kGlobalAveragePool2dBackward{.name = "global_average_pool2d_backward",
                                                   .infer = inferGlobalBackward};

ValueId maxPool2d(GraphBuilder& b, ValueId x, const Pool2dAttrs& attrs, const std::string& name) {
    return b.append(kMaxPool2d, {x}, Attrs::of(attrs), name)[0];
}

ValueId averagePool2d(GraphBuilder& b, ValueId x, const Pool2dAttrs& attrs, const std::string& name) {
    return b.append(kAveragePool2d, {x}, Attrs::of(attrs), name)[0];
}

ValueId globalAveragePool2d(GraphBuilder& b, ValueId x, const std::string& name) {
    return b.append(kGlobalAveragePool2d, {x}, {}, name)[0];
}

}  // namespace lockstep
