#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/ops/batch_norm.h"

namespace lockstep::cpu {

// How both passes of batch norm are shared out. An item is a channel block (channels last, sixteen, which lie side by
// side) and a slice of the batch: whole batches while there are blocks enough for the threads, so that the second pass
// finds in the cache what the first one read.
struct NormItems {
    static constexpr std::int64_t kMostBlocks = cpu::kMostBlocks;
    std::int64_t blocks = 1, blocksOfItem = 1, slices = 1, samples = 1;
    int threads = 1;

    NormItems(const ChannelRuns& runs, int deviceThreads);
    std::int64_t count() const { return (blocks + blocksOfItem - 1) / blocksOfItem * slices; }
    std::int64_t parts() const { return blocks * slices; }
    std::int64_t part(std::int64_t block, std::int64_t slice) const { return block * slices + slice; }
    std::int64_t firstBlock(std::int64_t item) const { return item / slices * blocksOfItem; }
    std::int64_t endBlock(std::int64_t item) const { return std::min(firstBlock(item) + blocksOfItem, blocks); }
    std::int64_t slice(std::int64_t item) const { return item % slices; }
    std::int64_t begin(std::int64_t item) const { return samples * slice(item) / slices; }
    std::int64_t end(std::int64_t item) const { return samples * (slice(item) + 1) / slices; }

    template <class Each>
    using OfBlocks = std::array<Each, kMostBlocks>;
    // make(block) of each channel block of an item.
    template <class Make>
    auto ofBlocks(std::int64_t item, const Make& make) const {
        OfBlocks<decltype(make(std::int64_t{0}))> made;
        const std::int64_t first = firstBlock(item);
        for (std::int64_t block = first; block < endBlock(item); ++block)
            made[static_cast<std::size_t>(block - first)] = make(block);
        return made;
    }
    // Sets a run over all of them, whose patterns lie `apart`.
    template <class Run>
    void span(Run& run, const ChannelRuns& runs, std::int64_t item, std::size_t apart) const {
        run.count = runs.length(firstBlock(item));
        run.step = runs.step;
        run.blocks = static_cast<std::size_t>(endBlock(item) - firstBlock(item));
        run.apart = apart;
    }

    // first(item) for all, then second(item), with the threads waiting between where a block has several slices.
    template <class First, class Second>
    void run(First first, Second second) const {
        const auto items = static_cast<std::size_t>(count());
        if (slices == 1) {
            overItems(items, [&](std::int64_t item) {
                first(item);
                second(item);
            });
            return;
        }
        overItems(items, first);
        overItems(items, second);
    }

private:
    template <class Body>
    void overItems(std::size_t items, Body body) const {
        inParallel(threads, items, kSmallWork, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) body(static_cast<std::int64_t>(i));
        });
    }
};

struct Pattern {
    alignas(64) float lane[16] = {};
};

// In an array of something of each channel block: floats from its patterns, doubles from its sums to the next block's.
template <class Each>
constexpr std::size_t kPatternsApart = sizeof(Each) / sizeof(float);
template <class Each>
constexpr std::size_t kSumsApart = sizeof(Each) / sizeof(double);

// A channel block's affine form y = (x - mean) scale + offset; zero behind the last channel.
struct Affine {
    Pattern mean, scale, offset;
};
Affine affineOf(const ChannelRuns& runs, std::int64_t block, const float* gamma, const float* beta, const Pattern& mean,
                const Pattern& invStd);
inline Pattern patternOf(const ChannelRuns& runs, std::int64_t block, const float* perChannel) {
    Pattern pattern;
    runs.spread(perChannel, block, pattern.lane);
    return pattern;
}

inline float asFloat(float x) { return x; }
inline float asFloat(Bf16 x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16); }

// Squares are taken about some value of the channel: far from zero, squares about zero would lose the variance.
template <class T>
Pattern nearbyValues(const ChannelRuns& runs, std::int64_t block, const T* x) {
    Pattern pattern;
    for (int lane = 0; lane < 16; ++lane) {
        const auto i = static_cast<std::size_t>(lane % runs.block);
        if (i < runs.length(block)) pattern.lane[lane] = asFloat(x[runs.at(0, block) + i]);
    }
    return pattern;
}

template <template <class> class Made, class... Arguments>
std::unique_ptr<Kernel> makeForImages(const Order& order, const Value& image, Arguments... arguments) {
    return forElementsOf(
        image, [&]<class T>(T) -> std::unique_ptr<Kernel> { return std::make_unique<Made<T>>(order, arguments...); });
}

// Where one batch norm's inputs and outputs are among the node's: x, gamma, beta, running mean and variance; mean,
// invStd and the new running values.
struct NormBranch {
    std::size_t input = 0, output = 0;
    BatchNormAttrs attrs;
};
struct ChannelStatistics {
    double mean = 0, variance = 0, count = 0;
};
void writeStatistics(const KernelCall& call, const NormBranch& branch, std::int64_t channel,
                     const ChannelStatistics& statistics);

}  // namespace lockstep::cpu
