#include "engine/backend/cpu/tile_conv.h"

#include <algorithm>

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

void TileEnd::write(const KernelCall& call, std::size_t column, const float* sums, std::size_t rows,
                    const std::size_t* at) const {
    m_simd.endRows({.sums = sums,
                    .rows = rows,
                    .at = at,
                    .end = sumEnd<Bf16>(call, m_end, column / 16, column),
                    .y = out<Bf16>(call, 0) + column});
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
