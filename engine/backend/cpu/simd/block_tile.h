#pragma once
#include "engine/backend/cpu/simd/ending.h"
#include "engine/backend/cpu/simd/table.h"

// Products of blocks of channels, of elements that Lanes tells of: see BlockProduct and BlockGradientProduct.
namespace lockstep::cpu::LOCKSTEP_SIMD {

// kBlocks: of sixteen channels; of eight there are always two. A large tile's lines are fetched one at a time, for a
// burst of requests would keep the loads waiting; a small one's at once.
#ifdef __AVX512F__
constexpr std::size_t kTiles = 14, kBlocks = 2, kChannels = 8;
constexpr bool kFetchesAtOnce = false;
#elif defined(__AVX2__)
constexpr std::size_t kTiles = 6, kBlocks = 1, kChannels = 4;
constexpr bool kFetchesAtOnce = true;
#else
constexpr std::size_t kTiles = 3, kBlocks = 1, kChannels = 2;
constexpr bool kFetchesAtOnce = true;
#endif

// With AVX-512 blocks of eight are there for tests alone: few variants will do.
template <class Lanes>
constexpr std::size_t kTilesOf = Lanes::kLanes == 16 || kTiles <= 6 ? kTiles : 6;

template <std::size_t kFloats, int kToWrite>
[[gnu::always_inline]] inline void fetch(const float* from) {
    unrolled<0, (kFloats + 15) / 16>([&](auto line) __attribute__((always_inline)) {
        __builtin_prefetch(from + line.value * 16, kToWrite);
    });
}

// kM tiles and kN blocks of outputs, summed over all channels in registers. Meanwhile come the lines of the outputs,
// and in the first blocks, which read it first, the data of the next tiles.
template <class Lanes, std::size_t kM, std::size_t kN, class T>
void productTile(const BlockProductOf<T>& run, std::size_t block, std::size_t tile) {
    using Sums = typename Lanes::Sums;
    constexpr std::size_t kLanes = Lanes::kLanes;
    const auto at = [&](std::size_t i) { return (block + i / kM) * run.productStride + (tile + i % kM) * kLanes; };
    Sums sums[kN * kM];
    unrolled<0, kN * kM>([&](auto i) __attribute__((always_inline)) {
        sums[i.value] = Sums{};
        if constexpr (!kIsHalf<T>)
            if (run.adds) sums[i.value] = get<Sums>(run.products + at(i.value));
    });
    const float* u = run.filters + block * run.filterStride;
    const float* v = run.data + tile * Lanes::kOfBlock;
    std::size_t next = 0;
    if constexpr (kFetchesAtOnce)
        unrolled<0, kN>([&](auto n)
                            __attribute__((always_inline)) { fetch<kM * kLanes, 1>(run.products + at(n.value * kM)); });
    for (std::size_t c = 0; c < run.channelBlocks; ++c, v += run.dataStride) {
        if (kFetchesAtOnce && block == 0) fetch<kM * Lanes::kOfBlock, 0>(v + kM * Lanes::kOfBlock);
        for (std::size_t i = 0; i < Lanes::kOfBlock; ++i, u += kLanes) {
            if (!kFetchesAtOnce && next < kN * kM) __builtin_prefetch(run.products + at(next++), 1);
            if (!kFetchesAtOnce && block == 0 && i < kM) __builtin_prefetch(v + (kM + i) * Lanes::kOfBlock);
            decltype(Lanes::load(u)) filters[kN];
            unrolled<0, kN>([&](auto n) __attribute__((always_inline)) {
                filters[n.value] = Lanes::load(u + n.value * run.filterStride);
            });
            unrolled<0, kM>([&](auto m) __attribute__((always_inline)) {
                const auto factor = Lanes::splat(v + m.value * Lanes::kOfBlock + i);
                unrolled<0, kN>([&](auto n) __attribute__((always_inline)) {
                    Sums& sum = sums[n.value * kM + m.value];
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
        const Ending<T, Sums> ending(*run.end, 0, block + n.value);
        unrolled<0, kM>([&](auto m) __attribute__((always_inline)) {
            const std::size_t to = at(n.value * kM + m.value);
            store(run.products + to, ending.of(sums[n.value * kM + m.value], static_cast<std::ptrdiff_t>(to)));
        });
    });
}

template <class Lanes, std::size_t kM, std::size_t kN, class T>
void productRest(const BlockProductOf<T>& run, std::size_t block, std::size_t tile) {
    if constexpr (kM > 0) {
        if (run.tiles - tile == kM) return productTile<Lanes, kM, kN>(run, block, tile);
        productRest<Lanes, kM - 1, kN>(run, block, tile);
    }
}

template <class Lanes, std::size_t kN, class T>
void productBlocks(const BlockProductOf<T>& run, std::size_t block) {
    constexpr std::size_t kM = kTilesOf<Lanes>;
    for (; block + kN <= run.blocks; block += kN) {
        std::size_t tile = 0;
        for (; tile + kM <= run.tiles; tile += kM) productTile<Lanes, kM, kN>(run, block, tile);
        productRest<Lanes, kM - 1, kN>(run, block, tile);
    }
    if constexpr (kN > 1) productBlocks<Lanes, 1>(run, block);
}

template <class Lanes, std::size_t kN>
void gradientProductTile(const BlockGradientProduct& run, std::size_t block, std::size_t channel) {
    using Sums = typename Lanes::Sums;
    constexpr std::size_t kLanes = Lanes::kLanes;
    Sums sums[kN * kChannels];
    unrolled<0, kN * kChannels>([&](auto i) __attribute__((always_inline)) { sums[i.value] = Sums{}; });
    const float* z = run.gradients + block * run.gradientStride;
    const float* v = run.data + channel / kLanes * run.dataStride + channel % kLanes;
    for (std::size_t tile = 0; tile < run.tiles; ++tile, z += kLanes, v += kLanes) {
        decltype(Lanes::load(z)) gradients[kN];
        unrolled<0, kN>([&](auto n) __attribute__((always_inline)) {
            gradients[n.value] = Lanes::load(z + n.value * run.gradientStride);
        });
        unrolled<0, kChannels>([&](auto c) __attribute__((always_inline)) {
            const auto factor = Lanes::splat(v + c.value);
            unrolled<0, kN>([&](auto n) __attribute__((always_inline)) {
                Sums& sum = sums[n.value * kChannels + c.value];
                sum = Lanes::add(sum, factor, gradients[n.value]);
            });
        });
    }
    unrolled<0, kN * kChannels>([&](auto i) __attribute__((always_inline)) {
        float* to =
            run.filters + (block + i.value / kChannels) * run.filterStride + (channel + i.value % kChannels) * kLanes;
        store(to, run.adds ? get<Sums>(to) + sums[i.value] : sums[i.value]);
    });
}

template <class Lanes, std::size_t kN>
void gradientProductBlocks(const BlockGradientProduct& run, std::size_t block) {
    for (; block + kN <= run.blocks; block += kN) {
        for (std::size_t channel = 0; channel < run.channelBlocks * Lanes::kLanes; channel += kChannels)
            gradientProductTile<Lanes, kN>(run, block, channel);
    }
    if constexpr (kN > 1) gradientProductBlocks<Lanes, 1>(run, block);
}

}  // namespace lockstep::cpu::LOCKSTEP_SIMD
