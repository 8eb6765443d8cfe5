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
#elif defined __AVX2__
// Eight rows of eight: pairs of rows are interleaved, then pairs of those pairs, within the halves of registers; then
// halves change places.
[[gnu::always_inline]] inline void transpose8(F8* rows) {
    F8 pairs[8], fours[8];
    unrolled<0, 4>([&](auto i) __attribute__((always_inline)) {
        const F8 a = rows[2 * i.value], b = rows[2 * i.value + 1];
        pairs[2 * i.value] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
        pairs[2 * i.value + 1] = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
    });
    unrolled<0, 4>([&](auto i) __attribute__((always_inline)) {
        constexpr std::size_t kFirst = i.value / 2 * 4 + i.value % 2;
        const F8 a = pairs[kFirst], b = pairs[kFirst + 2];
        fours[2 * i.value] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
        fours[2 * i.value + 1] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    });
    unrolled<0, 4>([&](auto i) __attribute__((always_inline)) {
        const F8 a = fours[i.value], b = fours[i.value + 4];
        rows[i.value] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
        rows[i.value + 4] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
    });
}

// Quarter by quarter.
[[gnu::always_inline]] inline void transpose16(F16* rows) {
    F8 quarters[4][8];
    unrolled<0, 8>([&](auto i) __attribute__((always_inline)) {
        quarters[0][i.value] = rows[i.value].low, quarters[1][i.value] = rows[i.value].high;
        quarters[2][i.value] = rows[i.value + 8].low, quarters[3][i.value] = rows[i.value + 8].high;
    });
    for (F8* const quarter : {quarters[0], quarters[1], quarters[2], quarters[3]}) transpose8(quarter);
    unrolled<0, 8>([&](auto i) __attribute__((always_inline)) {
        rows[i.value] = {quarters[0][i.value], quarters[2][i.value]};
        rows[i.value + 8] = {quarters[1][i.value], quarters[3][i.value]};
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
#if defined __AVX2__ && !defined __AVX512F__
    // As panels of products have them: of the other eight nothing is turned.
    for (; rowCount <= 8 && i + 8 <= count; i += 8) {
        F8 block[8];
        unrolled<0, 8>([&](auto n) __attribute__((always_inline)) {
            block[n.value] = n.value < rowCount ? Access<F8>::get(rows + n.value * rowStride + i) : F8{};
        });
        transpose8(block);
        unrolled<0, 8>([&](auto j) __attribute__((always_inline)) {
            store(lanes + (i + j.value) * laneStride, F16{block[j.value], F8{}});
        });
    }
#endif
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
