#pragma once
#include "engine/backend/cpu/simd/lanes.h"
#include "engine/backend/cpu/simd/table.h"

// The tile of a product of packed matrices: sums that stay in registers while the depth goes by.
namespace lockstep::cpu::LOCKSTEP_SIMD {

// As many sums at once as there are registers for; fewer where a's rows need registers for their places.
#ifdef __AVX512F__
constexpr std::size_t kVectors = 2, kRows = 14, kStridedRows = 8;
#else
constexpr std::size_t kVectors = 1, kRows = 6, kStridedRows = 6;
#endif

[[gnu::always_inline]] inline void putWhole(const GemmRun& run, F16 sum, float* c, std::size_t column) {
    if (run.adds) sum += load(c + column);
    if (run.bias) sum += load(run.bias + column);
    store(c + column, run.relu ? positive(sum) : sum);
}

// The last columns, fewer than a panel's.
inline void putRest(const GemmRun& run, F16 sum, float* c, std::size_t column) {
    if (column >= run.columns) return;
    const std::size_t left = run.columns - column < 16 ? run.columns - column : 16;
    if (run.adds) sum += load(Rest(c + column, left).lane);
    if (run.bias) sum += load(Rest(run.bias + column, left).lane);
    Rest rest;
    store(rest.lane, run.relu ? positive(sum) : sum);
    rest.copyTo(c + column, left);
}

// sums += kM rows of a times one panel; leaves a and b behind what was read.
template <class Lanes, std::size_t kM>
[[gnu::always_inline]] inline void addUp(const float*& a, std::size_t rowStride, std::size_t depthStride,
                                         const float*& b, std::size_t depth, F16* sums) {
    for (std::size_t k = 0; k < depth; ++k, a += depthStride, b += kVectors * 16) {
        decltype(Lanes::load(b)) columns[kVectors];
        unrolled<0, kVectors>([&](auto j)
                                  __attribute__((always_inline)) { columns[j.value] = Lanes::load(b + j.value * 16); });
        unrolled<0, kM>([&](auto i) __attribute__((always_inline)) {
            const auto factor = Lanes::splat(a + i.value * rowStride);
            unrolled<0, kVectors>([&](auto j) __attribute__((always_inline)) {
                F16& sum = sums[i.value * kVectors + j.value];
                sum = Lanes::add(sum, factor, columns[j.value]);
            });
        });
    }
}

// sums = kM rows of a times one panel.
template <class Lanes, std::size_t kM>
[[gnu::always_inline]] inline void sumUp(const float* a, std::size_t rowStride, std::size_t depthStride, const float* b,
                                         std::size_t depth, F16* sums) {
    unrolled<0, kM * kVectors>([&](auto at) __attribute__((always_inline)) { sums[at.value] = F16{}; });
    addUp<Lanes, kM>(a, rowStride, depthStride, b, depth, sums);
}

// Packed: a has kRows elements at each depth, those of a panel of rows. Elements are as large as a float; Lanes says
// what they are. Meanwhile the places of the sums come into the cache, row by row: a burst of requests would keep the
// loads waiting.
template <class Lanes, std::size_t kM, bool kIsPacked>
void tile(const GemmRun& run, std::size_t row) {
    float* c = run.c + row * run.cRowStride;
    F16 sums[kM * kVectors];
    unrolled<0, kM * kVectors>([&](auto at) __attribute__((always_inline)) { sums[at.value] = F16{}; });
    const float *a = kIsPacked ? run.a + row * run.depth : run.a + row * run.aRowStride, *b = run.panel, *ahead = c;
    const std::size_t rowStride = kIsPacked ? 1 : run.aRowStride, depthStride = kIsPacked ? kRows : run.aDepthStride;
    const std::size_t part = run.depth / kM;
    for (std::size_t i = 0; i < kM; ++i, ahead += run.cRowStride) {
        for (std::size_t j = 0; j < kVectors; ++j) __builtin_prefetch(ahead + j * 16, 1, 3);
        addUp<Lanes, kM>(a, rowStride, depthStride, b, i + 1 < kM ? part : run.depth - (kM - 1) * part, sums);
    }
    const bool isWhole = run.columns == kVectors * 16;
    unrolled<0, kM * kVectors>([&](auto at) __attribute__((always_inline)) {
        float* to = c + (at.value / kVectors) * run.cRowStride;
        constexpr std::size_t kColumn = at.value % kVectors * 16;
        if (isWhole) putWhole(run, sums[at.value], to, kColumn);
        else putRest(run, sums[at.value], to, kColumn);
    });
}

template <class Lanes, std::size_t kM, bool kIsPacked>
void rest(const GemmRun& run, std::size_t row) {
    if constexpr (kM > 0) {
        if (run.rows - row == kM) return tile<Lanes, kM, kIsPacked>(run, row);
        rest<Lanes, kM - 1, kIsPacked>(run, row);
    }
}

template <class Lanes, std::size_t kM, bool kIsPacked>
void tiles(const GemmRun& run) {
    std::size_t row = 0;
    for (; row + kM <= run.rows; row += kM) tile<Lanes, kM, kIsPacked>(run, row);
    rest<Lanes, kM - 1, kIsPacked>(run, row);
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
