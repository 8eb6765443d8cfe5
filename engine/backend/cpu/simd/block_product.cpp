#include "engine/backend/cpu/simd/block_tile.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

void blockProduct(const BlockProduct& run) {
    if (run.block < 16) return productBlocks<FloatsOf<F8>, 2>(run, 0);
    productBlocks<FloatLanes, kBlocks>(run, 0);
}

void blockGradientProduct(const BlockGradientProduct& run) {
    if (run.block < 16) return gradientProductBlocks<FloatsOf<F8>, 2>(run, 0);
    gradientProductBlocks<FloatLanes, kBlocks>(run, 0);
}

void endRows(const EndedRows& run) {
    const Ending low(run.end, 0), high(run.end, 1);
    const float* from = run.sums;
    for (std::size_t row = 0; row < run.rows; ++row, from += EndedRows::kColumns) {
        const auto at = static_cast<std::ptrdiff_t>(run.at[row]);
        store(run.y + at, low.of(load(from), at));
        store(run.y + at + 16, high.of(load(from + 16), at + 16));
    }
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
