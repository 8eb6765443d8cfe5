#include "engine/backend/cpu/panels.h"

#include <algorithm>

namespace lockstep::cpu {

void packPanel(const SimdTable& simd, const float* b, std::size_t rowStride, std::size_t columnStride,
               std::size_t depth, std::size_t columns, float* panel) {
    const std::size_t width = simd.panelColumns;
    if (columnStride == 1) {
        if (columns < width) std::fill_n(panel, depth * width, 0.0f);
        return simd.copyRows(b, rowStride, columns, panel, width, depth);
    }
    for (std::size_t j = 0; j < width; j += 16) {
        const std::size_t count = columns > j ? std::min<std::size_t>(16, columns - j) : 0;
        simd.rowsToLanes(b + j * columnStride, columnStride, count, panel + j, width, depth);
    }
}

}  // namespace lockstep::cpu
