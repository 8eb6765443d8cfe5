#include "engine/backend/cpu/simd/gemm_tile.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

const std::size_t kPanelColumns = kVectors * 16, kPanelRows = kRows;

void gemmPanel(const GemmRun& run) { tiles<FloatLanes, kStridedRows, false>(run); }

void gemmPacked(const GemmRun& run) { tiles<FloatLanes, kRows, true>(run); }

// Just below half of what is cut off is added, and the lowest bit that stays: ties go to the even one. NaN stays NaN,
// which the sum would carry over to zero.
void roundToBf16(float* x, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t bits;
        __builtin_memcpy(&bits, x + i, sizeof bits);
        const bool isNan = (bits & 0x7fffffffu) > 0x7f800000u;
        bits = (isNan ? bits | 0x400000u : bits + 0x7fffu + ((bits >> 16) & 1)) & 0xffff0000u;
        __builtin_memcpy(x + i, &bits, sizeof bits);
    }
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
