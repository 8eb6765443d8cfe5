#include "engine/backend/cpu/simd/lanes.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

// As many sums at once as there are registers for; fewer where a's rows need registers for their places.
#ifdef __AVX512F__
constexpr int kVectors = 2, kRows = 14, kStridedRows = 8;
#else
constexpr int kVectors = 1, kRows = 6, kStridedRows = 6;
#endif

[[gnu::always_inline]] inline void putWhole(const GemmRun& run, const F16* sums, float* c) {
    for (int j = 0; j < kVectors; ++j) {
        F16 value = sums[j];
        if (run.adds) value += load(c + j * 16);
        if (run.bias) value += load(run.bias + j * 16);
        store(c + j * 16, run.relu ? positive(value) : value);
    }
}

// The last columns, fewer than a panel's.
void putRest(const GemmRun& run, const F16* sums, float* c) {
    for (int j = 0; j < kVectors; ++j) {
        const std::size_t at = static_cast<std::size_t>(j) * 16;
        if (at >= run.columns) return;
        const std::size_t left = run.columns - at < 16 ? run.columns - at : 16;
        F16 value = sums[j];
        if (run.adds) value += load(Rest(c + at, left).lane);
        if (run.bias) value += load(Rest(run.bias + at, left).lane);
        Rest rest;
        store(rest.lane, run.relu ? positive(value) : value);
        rest.copyTo(c + at, left);
    }
}

// Packed: a has kRows floats at each depth, those of a panel of rows.
template <int kM, bool kIsPacked>
void tile(const GemmRun& run, std::size_t row) {
    float* c = run.c + row * run.cRowStride;
    for (int i = 0; i < kM; ++i) {
        const float* ahead = c + static_cast<std::size_t>(i) * run.cRowStride;
        for (int j = 0; j < kVectors; ++j) __builtin_prefetch(ahead + j * 16, 1, 3);
    }
    F16 sums[kM][kVectors] = {};
    const float* a = kIsPacked ? run.a + row * run.depth : run.a + row * run.aRowStride;
    const float* b = run.panel;
    const std::size_t rowStride = kIsPacked ? 1 : run.aRowStride, depthStride = kIsPacked ? kRows : run.aDepthStride;
    for (std::size_t k = 0; k < run.depth; ++k, a += depthStride, b += kVectors * 16) {
        F16 columns[kVectors];
        for (int j = 0; j < kVectors; ++j) columns[j] = load(b + j * 16);
        for (int i = 0; i < kM; ++i) {
            const F16 factor = splat(a[static_cast<std::size_t>(i) * rowStride]);
            for (int j = 0; j < kVectors; ++j) sums[i][j] += factor * columns[j];
        }
    }
    for (int i = 0; i < kM; ++i, c += run.cRowStride) {
        if (run.columns == kVectors * 16)
            putWhole(run, sums[i], c);
        else
            putRest(run, sums[i], c);
    }
}

template <int kM, bool kIsPacked>
void rest(const GemmRun& run, std::size_t row) {
    if constexpr (kM > 0) {
        if (run.rows - row == kM) return tile<kM, kIsPacked>(run, row);
        rest<kM - 1, kIsPacked>(run, row);
    }
}

template <int kM, bool kIsPacked>
void tiles(const GemmRun& run) {
    std::size_t row = 0;
    for (; row + kM <= run.rows; row += kM) tile<kM, kIsPacked>(run, row);
    rest<kM - 1, kIsPacked>(run, row);
}

}  // namespace

const std::size_t kPanelColumns = kVectors * 16, kPanelRows = kRows;

void gemmPanel(const GemmRun& run) {
    tiles<kStridedRows, false>(run);
}

void gemmPacked(const GemmRun& run) {
    tiles<kRows, true>(run);
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
