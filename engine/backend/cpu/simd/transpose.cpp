#include "engine/backend/cpu/simd/lanes.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

#ifdef __AVX512F__
// Sixteen rows of sixteen: the halves of rows i and i + 8 are interleaved, four times over.
[[gnu::always_inline]] inline void transpose16(F16* rows) {
    F16 next[16];
    unrolled<0, 4>([&](auto) __attribute__((always_inline)) {
        unrolled<0, 8>([&](auto i) __attribute__((always_inline)) {
            const F16 a = rows[i.value], b = rows[i.value + 8];
            next[2 * i.value] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            next[2 * i.value + 1] =
                __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        });
        unrolled<0, 16>([&](auto i) __attribute__((always_inline)) { rows[i.value] = next[i.value]; });
    });
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
        F16 block[16];
        unrolled<0, 16>([&](auto n) __attribute__((always_inline)) {
            block[n.value] = n.value < rowCount ? load(rows + n.value * rowStride + i) : F16{};
        });
        transpose16(block);
        unrolled<0, 16>([&](auto j) __attribute__((always_inline)) {
            store(lanes + (i + j.value) * laneStride, block[j.value]);
        });
    }
    for (; i < count; ++i) {
        for (std::size_t n = 0; n < 16; ++n) lanes[i * laneStride + n] = n < rowCount ? rows[n * rowStride + i] : 0;
    }
}

void lanesToRows(const float* lanes, float* rows, std::size_t rowStride, std::size_t rowCount, std::size_t count) {
    std::size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        F16 block[16];
        unrolled<0, 16>([&](auto j)
                            __attribute__((always_inline)) { block[j.value] = load(lanes + (i + j.value) * 16); });
        transpose16(block);
        unrolled<0, 16>([&](auto n) __attribute__((always_inline)) {
            if (n.value < rowCount) store(rows + n.value * rowStride + i, block[n.value]);
        });
    }
    for (; i < count; ++i) {
        for (std::size_t n = 0; n < rowCount; ++n) rows[n * rowStride + i] = lanes[i * 16 + n];
    }
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
