#include "engine/backend/cpu/panels.h"

#include <algorithm>

namespace lockstep::cpu {

void packPanel(const SimdTable& simd, const float* b, std::size_t rowStride, std::size_t columnStride,
               std::size_t depth, std::size_t columns, float* panel) {
    const std::size_t width = simd.panelColumns;
    if (columnStride == 1) {
        for (std::size_t k = 0; k < depth; ++k) {
            float* to = std::copy_n(b + k * rowStride, columns, panel + k * width);
            std::fill_n(to, width - columns, 0.0f);
        }
        return;
    }
    for (std::size_t j = 0; j < width; j += 16) {
        const std::size_t count = columns > j ? std::min<std::size_t>(16, columns - j) : 0;
        simd.rowsToLanes(b + j * columnStride, columnStride, count, panel + j, width, depth);
    }
}

}  // namespace lockstep::cpu
