#pragma once
#include <cstddef>

#include "engine/backend/cpu/simd/table.h"

namespace lockstep::cpu {

// depth x columns floats of b as one panel for gemmPanel: `columns` at most its width, one of the strides 1.
void packPanel(const SimdTable& simd, const float* b, std::size_t rowStride, std::size_t columnStride,
               std::size_t depth, std::size_t columns, float* panel);

}  // namespace lockstep::cpu
