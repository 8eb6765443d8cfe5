#include "engine/backend/cpu/simd/lanes.h"
#include "engine/backend/cpu/simd/loops.h"

namespace lockstep::cpu::LOCKSTEP_SIMD {

namespace {

#ifdef __AVX512F__
constexpr int kTiles = 14, kBlocks = 2, kChannels = 8;
#else
constexpr int kTiles = 3, kBlocks = 1, kChannels = 2;
#endif

// kM tiles and kN blocks of outputs, summed over all channels in registers.
template <int kM, int kN>
void productTile(const BlockProduct& run, std::size_t block, std::size_t tile) {
    F16 sums[kN][kM] = {};
    if (run.addends) {
        for (int n = 0; n < kN; ++n) {
            const float* from = run.addends + (block + static_cast<std::size_t>(n)) * run.productStride + tile * 16;
            for (int m = 0; m < kM; ++m) sums[n][m] = load(from + m * 16);
        }
    }
    const float* u = run.filters + block * run.filterStride;
    const float* v = run.data + tile * 16;
    for (std::size_t c = 0; c < run.channelBlocks; ++c, v += run.dataStride) {
        for (int i = 0; i < 16; ++i, u += 16) {
            F16 filters[kN];
            for (int n = 0; n < kN; ++n) filters[n] = load(u + static_cast<std::size_t>(n) * run.filterStride);
            for (int m = 0; m < kM; ++m) {
                const F16 factor = splat(v[m * 16 + i]);
                for (int n = 0; n < kN; ++n) sums[n][m] += factor * filters[n];
            }
        }
    }
    for (int n = 0; n < kN; ++n) {
        float* to = run.products + (block + static_cast<std::size_t>(n)) * run.productStride + tile * 16;
        for (int m = 0; m < kM; ++m) store(to + m * 16, sums[n][m]);
    }
}

template <int kM, int kN>
void productRest(const BlockProduct& run, std::size_t block, std::size_t tile) {
    if constexpr (kM > 0) {
        if (run.tiles - tile == kM) return productTile<kM, kN>(run, block, tile);
        productRest<kM - 1, kN>(run, block, tile);
    }
}

template <int kN>
void productBlocks(const BlockProduct& run, std::size_t block) {
    for (; block + kN <= run.blocks; block += kN) {
        std::size_t tile = 0;
        for (; tile + kTiles <= run.tiles; tile += kTiles) productTile<kTiles, kN>(run, block, tile);
        productRest<kTiles - 1, kN>(run, block, tile);
    }
    if constexpr (kN > 1) productBlocks<1>(run, block);
}

template <int kN>
void gradientProductTile(const BlockGradientProduct& run, std::size_t block, std::size_t channel) {
    F16 sums[kN][kChannels] = {};
    const float* z = run.gradients + block * run.gradientStride;
    const float* v = run.data + channel / 16 * run.dataStride + channel % 16;
    for (std::size_t tile = 0; tile < run.tiles; ++tile, z += 16, v += 16) {
        F16 gradients[kN];
        for (int n = 0; n < kN; ++n) gradients[n] = load(z + static_cast<std::size_t>(n) * run.gradientStride);
        for (int c = 0; c < kChannels; ++c) {
            const F16 factor = splat(v[c]);
            for (int n = 0; n < kN; ++n) sums[n][c] += factor * gradients[n];
        }
    }
    for (int n = 0; n < kN; ++n) {
        float* to = run.filters + (block + static_cast<std::size_t>(n)) * run.filterStride + channel * 16;
        for (int c = 0; c < kChannels; ++c, to += 16) store(to, load(to) + sums[n][c]);
    }
}

template <int kN>
void gradientProductBlocks(const BlockGradientProduct& run, std::size_t block) {
    for (; block + kN <= run.blocks; block += kN) {
        for (std::size_t channel = 0; channel < run.channelBlocks * 16; channel += kChannels)
            gradientProductTile<kN>(run, block, channel);
    }
    if constexpr (kN > 1) gradientProductBlocks<1>(run, block);
}

}  // namespace

void blockProduct(const BlockProduct& run) {
    productBlocks<kBlocks>(run, 0);
}

void blockGradientProduct(const BlockGradientProduct& run) {
    gradientProductBlocks<kBlocks>(run, 0);
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
