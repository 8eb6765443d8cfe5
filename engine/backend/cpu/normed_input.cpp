#include "engine/backend/cpu/normed_input.h"

#include "engine/backend/cpu/fused_ops.h"

namespace lockstep::cpu {

namespace {

constexpr std::size_t kLanes = 16, kGamma = 2, kBeta = 3, kMean = 4, kInvStd = 5;

bool isNormed(const Node& node) {
    if (node.op == &kConv2dBackwardWeightsNormed) return true;
    return node.op == &kConv2dFused && node.attrs.as<FusedConvAttrs>().norm;
}

}  // namespace

NormedInput::NormedInput(const Order& order) : m_simd(*order.machine.simd) {
    if (isNormed(order.node)) m_blocks = static_cast<std::size_t>(order.input(0).type.shape[1]) / kLanes;
}

void NormedInput::prepare(const KernelCall& call, float* room) const {
    const std::size_t channels = m_blocks * kLanes;
    for (std::size_t c = 0; c < channels; ++c) {
        float* at = room + c / kLanes * 3 * kLanes + c % kLanes;
        at[0] = in(call, kMean)[c];
        at[kLanes] = in(call, kGamma)[c] * in(call, kInvStd)[c];
        at[2 * kLanes] = in(call, kBeta)[c];
    }
}

ChannelAffine NormedInput::affine(const float* room, std::size_t block) const {
    const float* at = room + block * 3 * kLanes;
    return {at, at + kLanes, at + 2 * kLanes};
}

void NormedInput::apply(const float* room, const float* x, std::size_t stride, std::size_t pixels, float* y) const {
    for (std::size_t block = 0; block < m_blocks; ++block, x += stride, y += pixels * kLanes) {
        const ChannelAffine norm = affine(room, block);
        m_simd.floats.norm(
            {.x = x, .y = y, .count = pixels * kLanes, .mean = norm.mean, .scale = norm.scale, .offset = norm.offset},
            0, true);
    }
}

}  // namespace lockstep::cpu
