#include "engine/backend/cpu/simd/lanes.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

// As many sums at once as there are registers for.
constexpr int kRows = 6;
#ifdef __AVX512F__
constexpr int kVectors = 4;
#else
constexpr int kVectors = 1;
#endif

void putRow(const GemmRun& run, const F16* sums, std::size_t row) {
    float* c = run.c + row * run.cRowStride;
    for (int j = 0; j < kVectors; ++j) {
        const std::size_t at = static_cast<std::size_t>(j) * 16;
        if (at >= run.columns) return;
        const std::size_t left = run.columns - at < 16 ? run.columns - at : 16;
        F16 value = sums[j];
        if (left == 16) {
            if (run.adds) value += load(c + at);
            if (run.bias) value += load(run.bias + at);
            store(c + at, run.relu ? positive(value) : value);
            continue;
        }
        if (run.adds) value += load(Rest(c + at, left).lane);
        if (run.bias) value += load(Rest(run.bias + at, left).lane);
        Rest rest;
        store(rest.lane, run.relu ? positive(value) : value);
        rest.copyTo(c + at, left);
    }
}

template <int kM>
void tile(const GemmRun& run, std::size_t row) {
    F16 sums[kM][kVectors] = {};
    const float* a = run.a + row * run.aRowStride;
    const float* b = run.panel;
    for (std::size_t k = 0; k < run.depth; ++k, a += run.aDepthStride, b += kVectors * 16) {
        F16 columns[kVectors];
        for (int j = 0; j < kVectors; ++j) columns[j] = load(b + j * 16);
        for (int i = 0; i < kM; ++i) {
            const F16 factor = splat(a[static_cast<std::size_t>(i) * run.aRowStride]);
            for (int j = 0; j < kVectors; ++j) sums[i][j] += factor * columns[j];
        }
    }
    for (int i = 0; i < kM; ++i) putRow(run, sums[i], row + static_cast<std::size_t>(i));
}

template <int kM>
void tiles(const GemmRun& run, std::size_t row) {
    for (; row + kM <= run.rows; row += kM) tile<kM>(run, row);
    if constexpr (kM > 1) tiles<kM == 6 ? 4 : kM - 1>(run, row);
}

}  // namespace

const std::size_t kPanelColumns = kVectors * 16;

void gemmPanel(const GemmRun& run) {
    tiles<kRows>(run, 0);
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
