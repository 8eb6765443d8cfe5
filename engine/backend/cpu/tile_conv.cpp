#include "engine/backend/cpu/tile_conv.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace lockstep::cpu {

std::optional<std::int64_t> sourceOf(const Conv2dAttrs& attrs, std::size_t axis, bool isForward, std::int64_t made,
                                     std::int64_t tap) {
    const std::int64_t offset = tap * attrs.dilation[axis] - attrs.padding[axis], stride = attrs.stride[axis];
    if (isForward) return made * stride + offset;
    if ((made - offset) % stride != 0) return std::nullopt;
    return (made - offset) / stride;
}

GemmRun tileRun(const float* a, std::size_t aRowStride, const float* panel, std::size_t depth,
                const std::vector<GemmPart>& parts) {
    GemmRun run{.a = a, .aRowStride = aRowStride, .aDepthStride = 1, .panel = panel};
    run.depth = depth;
    run.cRowStride = run.columns = kTilePanel;
    run.parts = parts.data();
    run.partCount = parts.size();
    return run;
}

void TileEnd::write(const KernelCall& call, std::size_t column, float* sums, std::size_t rows,
                    const std::size_t* at) const {
    const bool isAny = m_end.scale || m_end.bias || m_end.addend;
    for (std::size_t n = 0; isAny && n < rows; ++n) {
        float* const row = sums + n * kTilePanel;
        if (m_end.scale) m_simd.floats.multiply(row, in(call, *m_end.scale) + column, row, kTilePanel);
        if (m_end.bias) m_simd.floats.addRow(row, in(call, *m_end.bias) + column, kTilePanel);
        if (m_end.addend) m_simd.halves.addRow(row, in<Bf16>(call, *m_end.addend) + at[n] + column, kTilePanel);
    }
    if (m_end.clamp == Clamp::Relu) m_simd.floats.relu(sums, sums, rows * kTilePanel);
    if (m_end.clamp == Clamp::Relu6) m_simd.floats.relu6(sums, sums, rows * kTilePanel);
    std::array<Bf16, kMostRows * kTilePanel> rounded;
    m_simd.halves.scale(sums, 1, rounded.data(), rows * kTilePanel);
    Bf16* const y = out<Bf16>(call, 0) + column;
    for (std::size_t n = 0; n < rows; ++n)
        std::memcpy(y + at[n], rounded.data() + n * kTilePanel, kTilePanel * sizeof(Bf16));
}

void placeFilters(const FilterSquare& square, const SimdTable& simd, const float* sums, bool adds, float* dw) {
    constexpr std::size_t kBlock = 16;
    for (std::size_t quarter = 0; quarter < 4; ++quarter) {
        const std::size_t low = quarter / 2, right = quarter % 2;
        const std::size_t channels = 2 * square.row + low, filters = 2 * square.panel + right;  // blocks before it
        const std::size_t block = (filters * (square.channels / kBlock) + channels) * square.taps + square.tap;
        const float* from = sums + low * kBlock * kTilePanel + right * kBlock;
        float* to = dw + block * kBlock * kBlock;
        for (std::size_t i = 0; i < kBlock; ++i, from += kTilePanel, to += kBlock) {
            if (adds) simd.floats.addRow(to, from, kBlock);
            else std::copy_n(from, kBlock, to);
        }
    }
}

}  // namespace lockstep::cpu
