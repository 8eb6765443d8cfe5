#include "engine/ops/conv2d.h"

#include <algorithm>

#include "engine/graph/gradient_context.h"
#include "engine/ops/product_flops.h"
#include "engine/ops/rules.h"

namespace lockstep {

namespace {

using Types = std::span<const TensorType>;

void checkAttrs(std::string_view op, const Conv2dAttrs& attrs) {
    const auto atLeast = [](std::array<int, 2> pair, int low) { return std::min(pair[0], pair[1]) >= low; };
    expectAttribute(atLeast(attrs.stride, 1), op, "stride", pairText(attrs.stride), "at least 1");
    expectAttribute(atLeast(attrs.padding, 0), op, "padding", pairText(attrs.padding), "at least 0");
    expectAttribute(atLeast(attrs.dilation, 1), op, "dilation", pairText(attrs.dilation), "at least 1");
    expectAttribute(attrs.groups >= 1, op, "groups", std::to_string(attrs.groups), "at least 1");
}

Shape outputShape(std::string_view op, const Shape& x, const Shape& w, const Conv2dAttrs& attrs) {
    checkAttrs(op, attrs);
    if (x[1] % attrs.groups != 0 || w[0] % attrs.groups != 0 || w[1] != x[1] / attrs.groups) {
        refuse("graph.channels", {std::string(op), x.text(), w.text(), std::to_string(attrs.groups)});
    }
    const std::array<std::int64_t, 2> window{attrs.dilation[0] * (w[2] - 1) + 1, attrs.dilation[1] * (w[3] - 1) + 1};
    const auto positions = windowPositions(op, x, window, attrs.stride, attrs.padding);
    return {x[0], w[0], positions[0], positions[1]};
}

std::vector<TensorType> inferConv2d(Types in, const Attrs& attrs) {
    constexpr std::string_view op = "conv2d";
    expectInputs(op, in, 2, 3);
    expectFloat(op, "x", in[0], 4);
    expectFloat(op, "w", in[1], 4);
    expectType(op, "w", in[1], {in[1].shape, in[0].dtype});
    if (in.size() == 3) expectType(op, "bias", in[2], {{in[1].shape[0]}, in[0].dtype});
    return {{outputShape(op, in[0].shape, in[1].shape, attrs.as<Conv2dAttrs>()), in[0].dtype}};
}

std::vector<TensorType> inferConv2dBackwardData(Types in, const Attrs& attrs) {
    constexpr std::string_view op = "conv2d_backward_data";
    const auto& [conv, shape] = attrs.as<Conv2dBackwardAttrs>();
    expectInputs(op, in, 2);
    expectFloat(op, "dy", in[0], 4);
    expectFloat(op, "w", in[1], 4);
    expectFloat(op, "dx", {shape, in[0].dtype}, 4);
    expectType(op, "w", in[1], {in[1].shape, in[0].dtype});
    expectType(op, "dy", in[0], {outputShape(op, shape, in[1].shape, conv), in[0].dtype});
    return {{shape, in[0].dtype}};
}

std::vector<TensorType> inferConv2dBackwardWeights(Types in, const Attrs& attrs) {
    constexpr std::string_view op = "conv2d_backward_weights";
    const auto& [conv, shape] = attrs.as<Conv2dBackwardAttrs>();
    expectInputs(op, in, 2);
    expectFloat(op, "x", in[0], 4);
    expectFloat(op, "dy", in[1], 4);
    expectFloat(op, "dw", {shape, in[0].dtype}, 4);
    expectType(op, "dy", in[1], {outputShape(op, in[0].shape, shape, conv), in[0].dtype});
    return {{shape, in[0].dtype}};
}

std::vector<TensorType> inferConv2dBackwardBias(Types in, const Attrs&) {
    constexpr std::string_view op = "conv2d_backward_bias";
    expectInputs(op, in, 1);
    expectFloat(op, "dy", in[0], 4);
    return {{{in[0].shape[1]}, in[0].dtype}};
}

// Weights before data: their gradient can leave for the reduction while the chain goes on.
void conv2dGradient(GradientContext& context) {
    const auto conv = context.attrs().as<Conv2dAttrs>();
    const ValueId x = context.input(0), w = context.input(1), dy = *context.outputGradient(0);
    const auto backward = [&](const OpDef& op, std::vector<ValueId> inputs, ValueId like) {
        const Shape shape = context.graph().typeOf(like).shape;
        return context.append(op, std::move(inputs), Attrs::of(Conv2dBackwardAttrs{conv, shape}))[0];
    };
    if (context.inputCount() == 3 && context.wants(2)) {
        context.setInputGradient(2, context.append(kConv2dBackwardBias, {dy})[0]);
    }
    if (context.wants(1)) context.setInputGradient(1, backward(kConv2dBackwardWeights, {x, dy}, w));
    if (context.wants(0)) context.setInputGradient(0, backward(kConv2dBackwardData, {dy, w}, x));
}

}  // namespace

std::string describe(const Conv2dAttrs& attrs) {
    std::string out = "stride=" + pairText(attrs.stride) + " pad=" + pairText(attrs.padding);
    if (attrs.dilation != std::array{1, 1}) out += " dilation=" + pairText(attrs.dilation);
    if (attrs.groups != 1) out += " groups=" + std::to_string(attrs.groups);
    return out;
}

std::string describe(const Conv2dBackwardAttrs& attrs) { return describe(attrs.conv) + " shape=" + attrs.shape.text(); }

constinit const OpDef kConv2d{.name = "conv2d", .infer = inferConv2d, .gradient = conv2dGradient, .flops = conv2dFlops};
constinit const OpDef kConv2dBackwardData{
    .name = "conv2d_backward_data", .infer = inferConv2dBackwardData, .flops = conv2dBackwardDataFlops};
constinit const OpDef kConv2dBackwardWeights{
    .name = "conv2d_backward_weights", .infer = inferConv2dBackwardWeights, .flops = conv2dBackwardWeightsFlops};
constinit const OpDef kConv2dBackwardBias{.name = "conv2d_backward_bias", .infer = inferConv2dBackwardBias};

ValueId conv2d(GraphBuilder& b, ValueId x, ValueId w, std::optional<ValueId> bias, const Conv2dAttrs& attrs,
               const std::string& name) {
    std::vector<ValueId> inputs{x, w};
    if (bias) inputs.push_back(*bias);
    return b.append(kConv2d, std::move(inputs), Attrs::of(attrs), name)[0];
}

}  // namespace lockstep
