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
    Shape rows(x.dims().subspan(1));
    if (in[1].shape.rank() == rows.rank() && in[1].shape[0] > rows[0]) rows = rows.withDim(0, in[1].shape[0]);
    expectType(op, "table", in[1], {rows, in[0].dtype});
    return {in[0]};
}

std::vector<TensorType> inferPad(Types in, const Attrs& attrs) {
    const Shape& shape = attrs.as<ShapeAttrs>().shape;
    expectInputs("pad", in, 1);
    expectFloat("pad", "x", in[0], 0);
    if (shape.count() < in[0].shape.count()) refuse("graph.element-count", {"pad", in[0].text(), shape.text()});
    return {{shape, in[0].dtype}};
}

std::vector<TensorType> inferSequenceMean(Types in, const Attrs&) {
    constexpr std::string_view op = "sequence_mean";
    expectInputs(op, in, 2);
    expectFloat(op, "x", in[0], 3);
    const Shape& x = in[0].shape;
    expectType(op, "lengths", in[1], {{x[0]}, DType::I32});
    return {{{x[0], x[2]}, in[0].dtype}};
}

std::vector<TensorType> inferSequenceMeanBackward(Types in, const Attrs& attrs) {
    constexpr std::string_view op = "sequence_mean_backward";
    const Shape& x = attrs.as<ShapeAttrs>().shape;
    expectInputs(op, in, 2);
    expectFloat(op, "dy", in[0], 2);
    expectType(op, "dy", in[0], {{x[0], x[-1]}, in[0].dtype});
    expectType(op, "lengths", in[1], {{x[0]}, DType::I32});
    return {{x, in[0].dtype}};
}

void transposeGradient(GradientContext& context) {
    context.setInputGradient(0, context.append(kTranspose, {*context.outputGradient(0)})[0]);
}

// The sum over the samples is that of a bias's gradient; rows of the table that no token reached have none.
void broadcastAddGradient(GradientContext& context) {
    const ValueId dy = *context.outputGradient(0);
    if (context.wants(0)) context.setInputGradient(0, dy);
    if (!context.wants(1)) return;
    const auto seenAs = [&](ValueId value, const Shape& shape) {
        return context.append(kReshape, {value}, Attrs::of(ShapeAttrs{shape}))[0];
    };
    const Shape table = context.graph().typeOf(context.input(1)).shape, x = context.graph().typeOf(dy).shape;
    const ValueId sum = context.append(kDenseBackwardBias, {seenAs(dy, {x[0], x.count() / x[0]})})[0];
    const bool isWhole = table.count() == x.count() / x[0];
    context.setInputGradient(
        1, isWhole ? seenAs(sum, table) : context.append(kPad, {sum}, Attrs::of(ShapeAttrs{table}))[0]);
}

void sequenceMeanGradient(GradientContext& context) {
    const Shape x = context.graph().typeOf(context.input(0)).shape;
    const std::vector<ValueId> inputs{*context.outputGradient(0), context.input(1)};
    context.setInputGradient(0, context.append(kSequenceMeanBackward, inputs, Attrs::of(ShapeAttrs{x}))[0]);
}

}  // namespace

constinit const OpDef kTranspose{.name = "transpose", .infer = inferTranspose, .gradient = transposeGradient};
constinit const OpDef kBroadcastAdd{
    .name = "broadcast_add", .infer = inferBroadcastAdd, .gradient = broadcastAddGradient, .inplaceInput = 0};
constinit const OpDef kPad{.name = "pad", .infer = inferPad};
constinit const OpDef kSequenceMean{
    .name = "sequence_mean", .infer = inferSequenceMean, .gradient = sequenceMeanGradient};
constinit const OpDef kSequenceMeanBackward{.name = "sequence_mean_backward", .infer = inferSequenceMeanBackward};

ValueId reshape(GraphBuilder& b, ValueId x, const Shape& shape, const std::string& name) {
    return b.append(kReshape, {x}, Attrs::of(ShapeAttrs{shape}), name)[0];
}

ValueId transpose(GraphBuilder& b, ValueId x, const std::string& name) {
    return b.append(kTranspose, {x}, {}, name)[0];
}

ValueId broadcastAdd(GraphBuilder& b, ValueId x, ValueId table, const std::string& name) {
    return b.append(kBroadcastAdd, {x, table}, {}, name)[0];
}

ValueId sequenceMean(GraphBuilder& b, ValueId x, ValueId lengths, const std::string& name) {
    return b.append(kSequenceMean, {x, lengths}, {}, name)[0];
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
