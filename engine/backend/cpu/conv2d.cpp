#include "engine/ops/conv2d.h"

#include <algorithm>
#include <array>

#include "engine/backend/cpu/conv_choice.h"
#include "engine/backend/cpu/conv_end.h"
#include "engine/backend/cpu/conv_request.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/primitive_kernel.h"

namespace lockstep::cpu {

namespace {

onednn::ConvRequest requestOf(onednn::Pass pass, const Conv2dAttrs& attrs, const Value& x, const Value& w,
                              const Value& y) {
    onednn::ConvRequest request = convRequest(pass, attrs, x.type.shape, w.type.shape, y.type.shape);
    request.source = descOf(x);
    request.weights = reshaped(descOf(w), weightDims(attrs, w.type.shape));
    request.destination = descOf(y);
    // Of one channel or one pixel, whatever the strides say, the bytes are those of channels that lie last; the library
    // has other implementations for these.
    const bool areHalves = x.type.dtype == DType::BF16 && y.type.dtype == DType::BF16;
    if (areHalves && request.source.isChannelsLast() && request.destination.isChannelsLast()) {
        request.source = onednn::Desc::channelsLast(request.source.dims(), DType::BF16);
        request.destination = onednn::Desc::channelsLast(request.destination.dims(), DType::BF16);
    }
    return request;
}

// The library's plan for the layouts that the node's values have.
std::optional<onednn::Plan> planOf(const Order& order) {
    using onednn::Pass;
    const OpDef* const op = order.node.op;
    const bool isData = op == &kConv2dBackwardData, isForward = isForwardConv(order.node);
    const Conv2dAttrs& attrs = isForward ? convAttrs(order.node) : order.node.attrs.as<Conv2dBackwardAttrs>().conv;
    if (isData)
        return onednn::planConv(order.machine.engine,
                                requestOf(Pass::BackwardData, attrs, order.output(0), order.input(1), order.input(0)));
    onednn::ConvRequest request =
        isForward ? requestOf(Pass::Forward, attrs, order.input(0), order.input(1), order.output(0))
                  : requestOf(Pass::BackwardWeights, attrs, order.input(0), order.output(0), order.input(1));
    if (isForward) setEnd(endOf(order.node), request);
    else request.bias = order.node.outputs.size() == 2;
    return onednn::planConv(order.machine.engine, request);
}

// Adds to what lies in y, where the tensor to be added has been brought.
class AddingConv final : public Kernel {
public:
    AddingConv(const Order& order, const onednn::Plan& plan)
        : m_convolution(order.machine.engine, plan), m_bytes(order.output(0).bytes()) {}

    std::size_t workspaceBytes() const override { return m_convolution.scratchBytes(); }

    void run(const KernelCall& call) override {
        std::byte* const y = call.outputs[0];
        if (call.inputs[3] != y) std::copy_n(call.inputs[3], m_bytes, y);
        m_convolution.run(std::array{call.inputs[0], call.inputs[1], call.inputs[2], y}, call.workspace);
    }

private:
    onednn::Primitive m_convolution;
    std::size_t m_bytes;
};

// Backward-data whose weights are packed first, at the front of the workspace.
class PackedBackwardData final : public Kernel {
public:
    PackedBackwardData(const onednn::Engine& engine, const onednn::Desc& weights, const onednn::Plan& plan)
        : m_pack(engine, onednn::planReorder(engine, weights, plan.arguments[1])),
          m_convolution(engine, plan),
          m_packedBytes((plan.arguments[1].bytes() + 63) / 64 * 64) {}

    std::size_t workspaceBytes() const override {
        return m_packedBytes + std::max(m_pack.scratchBytes(), m_convolution.scratchBytes());
    }

    void run(const KernelCall& call) override {
        std::byte *const packed = call.workspace, *const scratch = call.workspace + m_packedBytes;
        m_pack.run(std::array{call.inputs[1], packed}, scratch);
        m_convolution.run(std::array{call.inputs[0], packed, call.outputs[0]}, scratch);
    }

private:
    onednn::Primitive m_pack, m_convolution;
    std::size_t m_packedBytes;
};

std::unique_ptr<Kernel> makePackedBackwardData(const Order& order) {
    const Conv2dAttrs& attrs = order.node.attrs.as<Conv2dBackwardAttrs>().conv;
    onednn::ConvRequest request =
        requestOf(onednn::Pass::BackwardData, attrs, order.output(0), order.input(1), order.input(0));
    const onednn::Desc weights = request.weights;
    request.weights = onednn::Desc::any(weights.dims(), DType::F32);
    const auto plan = onednn::planConv(order.machine.engine, request);
    return std::make_unique<PackedBackwardData>(order.machine.engine, weights, required(order, plan));
}

}  // namespace

bool isLibrarysFast(const Order& order) {
    const auto plan = planOf(order);
    return plan && plan->isFast;
}

namespace {

// What makes a convolution's passes, by the algorithm that its node names.
struct OwnAlgorithm {
    std::string_view name;
    std::unique_ptr<Kernel> (*forward)(const Order&);
    std::unique_ptr<Kernel> (*backwardData)(const Order&);
    std::unique_ptr<Kernel> (*backwardWeights)(const Order&);
    bool sumsBias = false;  // its gradient, with those of the weights
};
constexpr OwnAlgorithm kOwn[] = {
    {"lanes", makeLaneConv, makeLaneConvBackwardData, makeLaneConvBackwardWeights, true},
    {"winograd", makeWinograd, makeWinogradBackwardData, makeWinogradBackwardWeights},
    {"pointwise", makePointwise, makePointwiseBackwardData, makePointwiseBackwardWeights},
    {kPointwiseBf16, makePointwise, makePointwiseBackwardData, makePointwiseBackwardWeights},
    {kSamplesBf16, makeSampleConv, makeSampleConvBackwardData, makeSampleConvBackwardWeights},
    {kGatheredBf16, makeGatheredConv, makeGatheredConvBackwardData, makeGatheredConvBackwardWeights},
    {kPaddedBf16, makePaddedConv, makePaddedConvBackwardData, makePaddedConvBackwardWeights},
    {kJoinedBf16, makeJoinedConv, makeJoinedConvBackwardData, makeJoinedConvBackwardWeights},
};

// Null: the library's.
const OwnAlgorithm* ownOf(const Node& node) {
    const auto* const found = std::ranges::find(kOwn, node.algorithm, &OwnAlgorithm::name);
    return found == std::end(kOwn) ? nullptr : found;
}

}  // namespace

std::unique_ptr<Kernel> makeConv2d(const Order& order) {
    if (const OwnAlgorithm* const own = ownOf(order.node)) return own->forward(order);
    if (endOf(order.node).addend) return std::make_unique<AddingConv>(order, required(order, planOf(order)));
    return primitiveKernel(order, planOf(order));
}

std::unique_ptr<Kernel> makeConv2dBackwardData(const Order& order) {
    if (const OwnAlgorithm* const own = ownOf(order.node)) return own->backwardData(order);
    if (order.node.algorithm == kPackedDirect) return makePackedBackwardData(order);
    return primitiveKernel(order, planOf(order));
}

template <class T>
void sumChannels(const Machine& machine, const ChannelRuns& runs, const T* x, float* sums) {
    const auto sumBlock = [&](std::int64_t block) {
        double lanes[16] = {};
        for (std::int64_t n = 0; n < runs.samples; ++n)
            machine.simd->of<T>().sum(x + runs.at(n, block), runs.length(block), runs.step, lanes);
        runs.fold(lanes);
        for (int lane = 0; lane < runs.block && runs.channel(block, lane) < runs.channels; ++lane)
            sums[runs.channel(block, lane)] = static_cast<float>(lanes[lane]);
    };
    inParallel(machine.threads, static_cast<std::size_t>(runs.blocks), runs.elements(),
               [&](std::size_t begin, std::size_t end) {
                   for (std::size_t b = begin; b < end; ++b) sumBlock(static_cast<std::int64_t>(b));
               });
}

template void sumChannels(const Machine&, const ChannelRuns&, const float*, float*);

namespace {

std::unique_ptr<Kernel> makeSumOfChannels(const Order& order, std::size_t image, std::size_t sums) {
    return forElementsOf(order.input(image), [&]<class T>(T) -> std::unique_ptr<Kernel> {
        return kernelOf([=, &machine = order.machine, runs = channelRuns(order.input(image))](const KernelCall& call) {
            sumChannels(machine, runs, in<T>(call, image), out(call, sums));
        });
    });
}

// Gradients of weights and, behind them, of the bias.
class WeightsAndBias final : public Kernel {
public:
    WeightsAndBias(std::unique_ptr<Kernel> weights, std::unique_ptr<Kernel> bias)
        : m_weights(std::move(weights)), m_bias(std::move(bias)) {}
    std::size_t workspaceBytes() const override { return m_weights->workspaceBytes(); }
    void run(const KernelCall& call) override {
        m_weights->run(call);
        m_bias->run(call);
    }

private:
    std::unique_ptr<Kernel> m_weights, m_bias;
};

}  // namespace

std::unique_ptr<Kernel> makeConv2dBackwardWeights(const Order& order) {
    const OwnAlgorithm* const own = ownOf(order.node);
    if (!own) return primitiveKernel(order, planOf(order));
    auto weights = own->backwardWeights(order);
    if (order.node.outputs.size() == 1 || own->sumsBias) return weights;
    return std::make_unique<WeightsAndBias>(std::move(weights), makeSumOfChannels(order, 1, 1));
}

std::unique_ptr<Kernel> makeConv2dBackwardBias(const Order& order) { return makeSumOfChannels(order, 0, 0); }

}  // namespace lockstep::cpu
