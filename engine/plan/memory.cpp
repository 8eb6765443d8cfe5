#include "engine/plan/memory.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "engine/plan/align.h"

namespace lockstep {

namespace {

struct Block {
    std::size_t offset = 0, bytes = 0;
    Lifetime lifetime;
};

bool meet(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

std::vector<std::size_t> largestFirst(std::span<const Lifetime> lifetimes) {
    std::vector<std::size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return lifetimes[i].bytes; });
    return order;
}

// The smallest gap that fits between the blocks alive at the same time, else behind the last of them.
std::size_t bestFit(std::span<const Block> byOffset, const Lifetime& lifetime, std::size_t bytes) {
    std::size_t end = 0, best = 0, bestGap = 0;
    for (const Block& block : byOffset) {
        if (!meet(block.lifetime, lifetime)) continue;
        const std::size_t gap = block.offset > end ? block.offset - end : 0;
        if (gap >= bytes && (bestGap == 0 || gap < bestGap)) {
            best = end;
            bestGap = gap;
        }
        end = std::max(end, block.offset + block.bytes);
    }
    return bestGap > 0 ? best : end;
}

}  // namespace

MemoryPlan planMemory(std::span<const Lifetime> lifetimes, std::size_t alignment) {
    MemoryPlan plan{.offsets = std::vector<std::size_t>(lifetimes.size())};
    std::vector<Block> placed;
    for (const std::size_t i : largestFirst(lifetimes)) {
        const Lifetime& lifetime = lifetimes[i];
        if (lifetime.bytes == 0) continue;
        const std::size_t bytes = alignUp(lifetime.bytes, alignment);
        const Block block{bestFit(placed, lifetime, bytes), bytes, lifetime};
        plan.offsets[i] = block.offset;
        plan.peak = std::max(plan.peak, block.offset + bytes);
        placed.insert(std::ranges::upper_bound(placed, block.offset, {}, &Block::offset), block);
    }
    return plan;
}

}  // namespace lockstep
