#include "engine/ops/conv2d.h"

#include "engine/backend/cpu/conv_request.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/primitive_kernel.h"

namespace lockstep::cpu {

namespace {

std::unique_ptr<Kernel> makeConv(const Order& order, onednn::Pass pass, const Conv2dAttrs& attrs, const Value& x,
                                 const Value& w, const Value& y, bool bias) {
    onednn::ConvRequest request = convRequest(pass, attrs, x.type.shape, w.type.shape, y.type.shape);
    request.winograd = order.node.algorithm == "winograd";
    request.relu = order.node.op == &kConv2dRelu;
    request.bias = bias;
    request.source = descOf(x);
    request.weights = reshaped(descOf(w), weightDims(attrs, w.type.shape));
    request.destination = descOf(y);
    return primitiveKernel(order, onednn::planConv(order.machine.engine, request));
}

}  // namespace

std::unique_ptr<Kernel> makeConv2d(const Order& order) {
    if (order.node.algorithm == "lanes") return makeLaneConv(order);
    return makeConv(order, onednn::Pass::Forward, order.node.attrs.as<Conv2dAttrs>(), order.input(0), order.input(1),
                    order.output(0), order.node.inputs.size() == 3);
}

std::unique_ptr<Kernel> makeConv2dBackwardData(const Order& order) {
    if (order.node.algorithm == "lanes") return makeLaneConvBackwardData(order);
    return makeConv(order, onednn::Pass::BackwardData, order.node.attrs.as<Conv2dBackwardAttrs>().conv, order.output(0),
                    order.input(1), order.input(0), false);
}

std::unique_ptr<Kernel> makeConv2dBackwardWeights(const Order& order) {
    if (order.node.algorithm == "lanes") return makeLaneConvBackwardWeights(order);
    return makeConv(order, onednn::Pass::BackwardWeights, order.node.attrs.as<Conv2dBackwardAttrs>().conv,
                    order.input(0), order.output(0), order.input(1), order.node.outputs.size() == 2);
}

std::unique_ptr<Kernel> makeConv2dBackwardBias(const Order& order) {
    return kernelOf([&machine = order.machine, runs = channelRuns(order.input(0))](const KernelCall& call) {
        const auto sumBlock = [&](std::int64_t block) {
            double sums[16] = {};
            for (std::int64_t n = 0; n < runs.samples; ++n)
                machine.simd->sum(in(call, 0) + runs.at(n, block), runs.length(block), sums);
            runs.fold(sums);
            for (int lane = 0; lane < runs.block && runs.channel(block, lane) < runs.channels; ++lane)
                out(call, 0)[runs.channel(block, lane)] = static_cast<float>(sums[lane]);
        };
        inParallel(machine.threads, static_cast<std::size_t>(runs.blocks), runs.floats(),
                   [&](std::size_t begin, std::size_t end) {
                       for (std::size_t b = begin; b < end; ++b) sumBlock(static_cast<std::int64_t>(b));
                   });
    });
}

}  // namespace lockstep::cpu
