#include "engine/ops/tokens.h"

#include "engine/graph/gradient_context.h"
#include "engine/ops/dense.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/pool2d.h"
#include "engine/ops/rules.h"

namespace lockstep {

namespace {

using Types = std::span<const TensorType>;

std::vector<TensorType> inferTranspose(Types in, const Attrs&) {
    constexpr std::string_view op = "transpose";
    expectInputs(op, in, 1);
    expectFloat(op, "x", in[0], 3);
    const Shape& x = in[0].shape;
    return {{{x[0], x[2], x[1]}, in[0].dtype}};
}

std::vector<TensorType> inferBroadcastAdd(Types in, const Attrs&) {
    constexpr std::string_view op = "broadcast_add";
    expectInputs(op, in, 2);
    expectFloat(op, "x", in[0], 0);
    const Shape& x = in[0].shape;
    if (x.rank() < 2) refuse("graph.rank", {std::string(op), "x", "2 or more", in[0].text()});
    expectType(op, "row", in[1], {Shape(x.dims().subspan(1)), in[0].dtype});
    return {in[0]};
}

void transposeGradient(GradientContext& context) {
    context.setInputGradient(0, context.append(kTranspose, {*context.outputGradient(0)})[0]);
}

// The sum over the samples is that of a bias's gradient.
void broadcastAddGradient(GradientContext& context) {
    const ValueId dy = *context.outputGradient(0);
    if (context.wants(0)) context.setInputGradient(0, dy);
    if (!context.wants(1)) return;
    const auto seenAs = [&](ValueId value, const Shape& shape) {
        return context.append(kReshape, {value}, Attrs::of(ShapeAttrs{shape}))[0];
    };
    const Shape row = context.graph().typeOf(context.input(1)).shape;
    const std::int64_t samples = context.graph().typeOf(dy).shape[0];
    const ValueId sum = context.append(kDenseBackwardBias, {seenAs(dy, {samples, row.count()})})[0];
    context.setInputGradient(1, seenAs(sum, row));
}

}  // namespace

constinit const OpDef kTranspose{.name = "transpose", .infer = inferTranspose, .gradient = transposeGradient};
constinit const OpDef kBroadcastAdd{
    .name = "broadcast_add", .infer = inferBroadcastAdd, .gradient = broadcastAddGradient, .inplaceInput = 0};

ValueId reshape(GraphBuilder& b, ValueId x, const Shape& shape, const std::string& name) {
    return b.append(kReshape, {x}, Attrs::of(ShapeAttrs{shape}), name)[0];
}

ValueId transpose(GraphBuilder& b, ValueId x, const std::string& name) {
    return b.append(kTranspose, {x}, {}, name)[0];
}

ValueId broadcastAdd(GraphBuilder& b, ValueId x, ValueId row, const std::string& name) {
    return b.append(kBroadcastAdd, {x, row}, {}, name)[0];
}

ValueId pixelsToTokens(GraphBuilder& b, ValueId image, const std::string& name) {
    const auto scope = b.enter(name);
    expectFloat("transpose", "image", b.typeOf(image), 4);
    const Shape shape = b.typeOf(image).shape;
    return transpose(b, reshape(b, image, {shape[0], shape[1], shape[2] * shape[3]}, "pixels"), "transpose");
}

ValueId tokenMean(GraphBuilder& b, ValueId tokens, const std::string& name) {
    const auto scope = b.enter(name);
    const ValueId channels = transpose(b, tokens, "transpose");
    const Shape shape = b.typeOf(channels).shape;
    return globalAveragePool2d(b, reshape(b, channels, {shape[0], shape[1], shape[2], 1}, "row"), "mean");
}

}  // namespace lockstep
