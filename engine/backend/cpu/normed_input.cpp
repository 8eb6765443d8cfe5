#include "engine/backend/cpu/normed_input.h"

#include <algorithm>

#include "engine/backend/cpu/fused_ops.h"

namespace lockstep::cpu {

namespace {

constexpr std::size_t kChannelsOfBlock = 16, kGamma = 2, kBeta = 3, kMean = 4, kInvStd = 5;

bool isNormed(const Node& node) {
    if (node.op == &kConv2dBackwardWeightsNormed) return true;
    return node.op == &kConv2dFused && node.attrs.as<FusedConvAttrs>().norm;
}

}  // namespace

NormedInput::NormedInput(const Order& order) : m_simd(*order.machine.simd) {
    if (isNormed(order.node)) m_blocks = static_cast<std::size_t>(order.input(0).type.shape[1]) / kChannelsOfBlock;
}

void NormedInput::prepare(const KernelCall& call, float* room) const {
    const std::size_t channels = m_blocks * kChannelsOfBlock;
    for (std::size_t c = 0; c < channels; ++c) {
        float* at = room + c / kChannelsOfBlock * 3 * kChannelsOfBlock + c % kChannelsOfBlock;
        at[0] = in(call, kMean)[c];
        at[kChannelsOfBlock] = in(call, kGamma)[c] * in(call, kInvStd)[c];
        at[2 * kChannelsOfBlock] = in(call, kBeta)[c];
    }
}

ChannelAffine NormedInput::affine(const float* room, std::size_t block) const {
    const float* at = room + block * 3 * kChannelsOfBlock;
    return {at, at + kChannelsOfBlock, at + 2 * kChannelsOfBlock};
}

void NormedInput::apply(const float* room, const float* x, std::size_t block, std::size_t stride, std::size_t pixels,
                        float* y) const {
    // A pattern of eight channels has them twice.
    const auto patternOf = [block](const float* from, float* pattern) {
        for (std::size_t lane = 0; lane < kChannelsOfBlock; lane += block) std::copy_n(from, block, pattern + lane);
        return pattern;
    };
    for (std::size_t c = 0; c < m_blocks * kChannelsOfBlock; c += block, x += stride, y += pixels * block) {
        const ChannelAffine norm = affine(room, c / kChannelsOfBlock);
        const std::size_t at = c % kChannelsOfBlock;
        float mean[kChannelsOfBlock], scale[kChannelsOfBlock], offset[kChannelsOfBlock];
        m_simd.floats.norm({.x = x,
                            .y = y,
                            .count = pixels * block,
                            .mean = patternOf(norm.mean + at, mean),
                            .scale = patternOf(norm.scale + at, scale),
                            .offset = patternOf(norm.offset + at, offset)},
                           0, true);
    }
}

}  // namespace lockstep::cpu
