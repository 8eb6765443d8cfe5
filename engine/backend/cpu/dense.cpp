#include "engine/ops/dense.h"

#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/primitive_kernel.h"

namespace lockstep::cpu {

namespace {

// x may be an image in channel blocks; then the weights are laid out to match, as O,C,H,W.
std::unique_ptr<Kernel> makeInnerProduct(const Order& order, onednn::Pass pass, const Value& x, const Value& w,
                                         const Value& y, bool bias) {
    onednn::DenseRequest request;
    request.pass = pass;
    request.relu = order.node.op == &kDenseRelu;
    request.bias = bias;
    request.source = descOf(x);
    std::vector<std::int64_t> dims = request.source.dims();
    dims[0] = y.type.shape[1];
    request.weights = reshaped(descOf(w), dims);
    request.destination = descOf(y);
    return primitiveKernel(order, onednn::planDense(order.machine.engine, request));
}

}  // namespace

std::unique_ptr<Kernel> makeDense(const Order& order) {
    return makeInnerProduct(order, onednn::Pass::Forward, order.input(0), order.input(1), order.output(0),
                            order.node.inputs.size() == 3);
}

std::unique_ptr<Kernel> makeDenseBackwardData(const Order& order) {
    return makeInnerProduct(order, onednn::Pass::BackwardData, order.output(0), order.input(1), order.input(0), false);
}

std::unique_ptr<Kernel> makeDenseBackwardWeights(const Order& order) {
    return makeInnerProduct(order, onednn::Pass::BackwardWeights, order.input(0), order.output(0), order.input(1),
                            order.node.outputs.size() == 2);
}

// A row of features is a run of channels with one pixel.
std::unique_ptr<Kernel> makeDenseBackwardBias(const Order& order) {
    return makeConv2dBackwardBias(order);
}

}  // namespace lockstep::cpu
