#include "engine/backend/cpu/simd/lanes.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

#ifdef __AVX512F__
// Sixteen rows of sixteen: the halves of rows i and i + 8 are interleaved, four times over.
[[gnu::always_inline]] inline void transpose16(F16* rows) {
    F16 next[16];
    for (int round = 0; round < 4; ++round) {
        for (int i = 0; i < 8; ++i) {
            const F16 a = rows[i], b = rows[i + 8];
            next[2 * i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            next[2 * i + 1] =
                __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        }
        for (int i = 0; i < 16; ++i) rows[i] = next[i];
    }
}
#else
[[gnu::always_inline]] inline void transpose16(F16* rows) {
    alignas(64) float from[16][16], to[16][16];
    __builtin_memcpy(from, rows, sizeof from);
    for (int i = 0; i < 16; ++i) {
        for (int j = 0; j < 16; ++j) to[j][i] = from[i][j];
    }
    __builtin_memcpy(rows, to, sizeof to);
}
#endif

}  // namespace

void rowsToLanes(const float* rows, std::size_t rowStride, std::size_t rowCount, float* lanes, std::size_t laneStride,
                 std::size_t count) {
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        F16 block[16] = {};
        for (std::size_t n = 0; n < rowCount; ++n) block[n] = load(rows + n * rowStride + i);
        transpose16(block);
        for (std::size_t j = 0; j < 16; ++j) store(lanes + (i + j) * laneStride, block[j]);
    }
    for (; i < count; ++i) {
        for (std::size_t n = 0; n < 16; ++n) lanes[i * laneStride + n] = n < rowCount ? rows[n * rowStride + i] : 0;
    }
}

void lanesToRows(const float* lanes, float* rows, std::size_t rowStride, std::size_t rowCount, std::size_t count) {
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        F16 block[16];
        for (std::size_t j = 0; j < 16; ++j) block[j] = load(lanes + (i + j) * 16);
        transpose16(block);
        for (std::size_t n = 0; n < rowCount; ++n) store(rows + n * rowStride + i, block[n]);
    }
    for (; i < count; ++i) {
        for (std::size_t n = 0; n < rowCount; ++n) rows[n * rowStride + i] = lanes[i * 16 + n];
    }
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
