#pragma once
#include "engine/backend/cpu/simd/ending.h"
#include "engine/backend/cpu/simd/table.h"

// Products of blocks of channels, of elements that Lanes tells of: see BlockProduct and BlockGradientProduct.
namespace lockstep::cpu::LOCKSTEP_SIMD {

#ifdef __AVX512F__
constexpr std::size_t kTiles = 14, kBlocks = 2, kChannels = 8;
#elif defined(__AVX2__)
constexpr std::size_t kTiles = 6, kBlocks = 1, kChannels = 4;
#else
constexpr std::size_t kTiles = 3, kBlocks = 1, kChannels = 2;
#endif

// kM tiles and kN blocks of outputs, summed over all channels in registers. Meanwhile come the lines of the outputs,
// and in the first blocks, which read it first, the data of the next tiles: one at a time, for a burst of requests
// would keep the loads waiting.
template <class Lanes, std::size_t kM, std::size_t kN>
void productTile(const BlockProduct& run, std::size_t block, std::size_t tile) {
    const auto at = [&](std::size_t i) { return (block + i / kM) * run.productStride + (tile + i % kM) * 16; };
    F16 sums[kN * kM];
    unrolled<0, kN * kM>([&](auto i) __attribute__((always_inline)) {
        sums[i.value] = run.adds ? load(run.products + at(i.value)) : F16{};
    });
    const float* u = run.filters + block * run.filterStride;
    const float* v = run.data + tile * Lanes::kOfBlock;
    std::size_t next = 0;
    for (std::size_t c = 0; c < run.channelBlocks; ++c, v += run.dataStride) {
        for (std::size_t i = 0; i < Lanes::kOfBlock; ++i, u += 16) {
            if (next < kN * kM) __builtin_prefetch(run.products + at(next++), 1);
            if (block == 0 && i < kM) __builtin_prefetch(v + (kM + i) * Lanes::kOfBlock);
            decltype(Lanes::load(u)) filters[kN];
            unrolled<0, kN>([&](auto n) __attribute__((always_inline)) {
                filters[n.value] = Lanes::load(u + n.value * run.filterStride);
            });
            unrolled<0, kM>([&](auto m) __attribute__((always_inline)) {
                const auto factor = Lanes::splat(v + m.value * Lanes::kOfBlock + i);
                unrolled<0, kN>([&](auto n) __attribute__((always_inline)) {
                    F16& sum = sums[n.value * kM + m.value];
                    sum = Lanes::add(sum, factor, filters[n.value]);
                });
            });
        }
    }
    if (!run.end) {
        unrolled<0, kN * kM>([&](auto i)
                                 __attribute__((always_inline)) { store(run.products + at(i.value), sums[i.value]); });
        return;
    }
    unrolled<0, kN>([&](auto n) __attribute__((always_inline)) {
        const Ending ending(*run.end, block + n.value);
        unrolled<0, kM>([&](auto m) __attribute__((always_inline)) {
            const std::size_t to = at(n.value * kM + m.value);
            store(run.products + to, ending.of(sums[n.value * kM + m.value], static_cast<std::ptrdiff_t>(to)));
        });
    });
}

template <class Lanes, std::size_t kM, std::size_t kN>
void productRest(const BlockProduct& run, std::size_t block, std::size_t tile) {
    if constexpr (kM > 0) {
        if (run.tiles - tile == kM) return productTile<Lanes, kM, kN>(run, block, tile);
        productRest<Lanes, kM - 1, kN>(run, block, tile);
    }
}

template <class Lanes, std::size_t kN>
void productBlocks(const BlockProduct& run, std::size_t block) {
    for (; block + kN <= run.blocks; block += kN) {
        std::size_t tile = 0;
        for (; tile + kTiles <= run.tiles; tile += kTiles) productTile<Lanes, kTiles, kN>(run, block, tile);
        productRest<Lanes, kTiles - 1, kN>(run, block, tile);
    }
    if constexpr (kN > 1) productBlocks<Lanes, 1>(run, block);
}

template <class Lanes, std::size_t kN>
void gradientProductTile(const BlockGradientProduct& run, std::size_t block, std::size_t channel) {
    F16 sums[kN * kChannels];
    unrolled<0, kN * kChannels>([&](auto i) __attribute__((always_inline)) { sums[i.value] = F16{}; });
    const float* z = run.gradients + block * run.gradientStride;
    const float* v = run.data + channel / 16 * run.dataStride + channel % 16;
    for (std::size_t tile = 0; tile < run.tiles; ++tile, z += 16, v += 16) {
        decltype(Lanes::load(z)) gradients[kN];
        unrolled<0, kN>([&](auto n) __attribute__((always_inline)) {
            gradients[n.value] = Lanes::load(z + n.value * run.gradientStride);
        });
        unrolled<0, kChannels>([&](auto c) __attribute__((always_inline)) {
            const auto factor = Lanes::splat(v + c.value);
            unrolled<0, kN>([&](auto n) __attribute__((always_inline)) {
                F16& sum = sums[n.value * kChannels + c.value];
                sum = Lanes::add(sum, factor, gradients[n.value]);
            });
        });
    }
    unrolled<0, kN * kChannels>([&](auto i) __attribute__((always_inline)) {
        float* to =
            run.filters + (block + i.value / kChannels) * run.filterStride + (channel + i.value % kChannels) * 16;
        store(to, run.adds ? load(to) + sums[i.value] : sums[i.value]);
    });
}

template <class Lanes, std::size_t kN>
void gradientProductBlocks(const BlockGradientProduct& run, std::size_t block) {
    for (; block + kN <= run.blocks; block += kN) {
        for (std::size_t channel = 0; channel < run.channelBlocks * 16; channel += kChannels)
            gradientProductTile<Lanes, kN>(run, block, channel);
    }
    if constexpr (kN > 1) gradientProductBlocks<Lanes, 1>(run, block);
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
