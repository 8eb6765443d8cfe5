#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/layout_pass.h"

namespace lockstep::cpu {

namespace {

using onednn::DenseRequest;
using onednn::Desc;
using onednn::Pass;

const char* axesOf(const Desc& weights) {
    return weights.dims().size() == 4 ? "oihw" : "oi";
}

// The image behind a flattened x, where it still is one and the weights may be laid out to match.
std::optional<Desc> imageBehind(const LayoutPass& pass, ValueId x) {
    const Value& value = pass.newValue(x);
    if (!value.layout || descOf(value).channelBlock() < 2) return std::nullopt;
    return descOf(value);
}

// The weights' layout once it is decided; nothing while the library may choose.
std::optional<Desc> decided(const LayoutPass& pass, std::optional<ValueId> parameter) {
    if (!parameter || !pass.isParameter(*parameter) || !pass.isDecided(*parameter)) return std::nullopt;
    return descOf(pass.newValue(*parameter));
}

bool fits(const Desc& weights, const Desc& x) {
    const std::vector<std::int64_t> w = weights.dims(), image = x.dims();
    return w.size() == image.size() && std::equal(w.begin() + 1, w.end(), image.begin() + 1);
}

// Plans with x as an image; empty where the weights lie otherwise, or the library is slow at it.
std::optional<onednn::Plan> planImage(const LayoutPass& pass, DenseRequest request, const std::optional<Desc>& weights,
                                      std::int64_t outputs) {
    if (weights && !fits(*weights, request.source)) return std::nullopt;
    std::vector<std::int64_t> dims = request.source.dims();
    dims[0] = outputs;
    request.weights = weights.value_or(Desc::any(dims, DType::F32));
    auto plan = planDense(pass.engine(), request);
    return plan && plan->isFast ? plan : std::nullopt;
}

}  // namespace

void layOutDense(LayoutPass& pass, const Node& node) {
    const ValueId x = node.inputs[0], w = node.inputs[1];
    const Shape &wShape = pass.oldValue(w).type.shape, &yShape = pass.oldValue(node.outputs[0]).type.shape;
    DenseRequest request{.pass = Pass::Forward,
                         .relu = node.op == &kDenseRelu,
                         .bias = node.inputs.size() == 3,
                         .source = {},
                         .weights = {},
                         .destination = Desc::rowMajor(yShape.dims(), DType::F32)};
    std::optional<onednn::Plan> plan;
    if (const auto image = imageBehind(pass, x); image && pass.isParameter(w)) {
        request.source = *image;
        plan = planImage(pass, request, decided(pass, w), wShape[0]);
    }
    const Desc weights = plan ? plan->arguments[1] : Desc::rowMajor(wShape.dims(), DType::F32);
    if (pass.isParameter(w) && !pass.isDecided(w)) pass.decide(w, weights, axesOf(weights));
    std::vector<ValueId> inputs{plan ? pass.now(x) : pass.rowMajor(x), pass.weights(w, weights, axesOf(weights))};
    if (request.bias) inputs.push_back(pass.rowMajor(node.inputs[2]));
    pass.emit(node, std::move(inputs), "jit");
}

// dx comes as the image that x was, where the weights are laid out for one: the view behind this node then falls away.
void layOutDenseBackwardData(LayoutPass& pass, const Node& node) {
    const ValueId dy = node.inputs[0], w = node.inputs[1];
    const auto weights = decided(pass, w);
    const Shape& shape = pass.oldValue(node.outputs[0]).type.shape;
    if (weights && weights->dims().size() == 4) {
        std::vector<std::int64_t> dims = weights->dims();
        dims[0] = shape[0];
        const Desc dx = pass.imageLayouts(Shape(std::span<const std::int64_t>(dims))).back();
        const DenseRequest request{.pass = Pass::BackwardData,
                                   .source = dx,
                                   .weights = {},
                                   .destination = Desc::rowMajor(pass.oldValue(dy).type.shape.dims(), DType::F32)};
        if (const auto plan = planImage(pass, request, weights, weights->dims()[0]))
            return pass.emit(node, {pass.rowMajor(dy), pass.now(w)}, "jit", {{plan->arguments[2]}});
    }
    pass.emit(node, {pass.rowMajor(dy), pass.rowMajor(w)}, "jit");
}

void layOutDenseBackwardWeights(LayoutPass& pass, const Node& node) {
    const ValueId x = node.inputs[0], dy = node.inputs[1];
    const auto parameter = pass.parameterOf(node.outputs[0]);
    const auto weights = decided(pass, parameter);
    const auto image = imageBehind(pass, x);
    if (image && weights) {
        const Shape& dyShape = pass.oldValue(dy).type.shape;
        DenseRequest request{.pass = Pass::BackwardWeights,
                             .bias = node.outputs.size() == 2,
                             .source = *image,
                             .weights = {},
                             .destination = Desc::rowMajor(dyShape.dims(), DType::F32)};
        if (planImage(pass, request, weights, dyShape[1]))
            return pass.emit(node, {pass.now(x), pass.rowMajor(dy)}, "jit", {{*weights, "oihw", true}});
    }
    pass.emit(node, {pass.rowMajor(x), pass.rowMajor(dy)}, "jit");
}

}  // namespace lockstep::cpu
