#include "engine/data/partition.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace lockstep {

Share shareOf(std::int64_t whole, int part, int parts) {
    assert(parts > 0 && part >= 0 && part < parts);
    const std::int64_t each = whole / parts, extra = whole % parts;
    return {part * each + std::min<std::int64_t>(part, extra), each + (part < extra ? 1 : 0)};
}

Partition Partition::byRanks(int world, int accumulation) {
    assert(world > 0 && accumulation > 0);
    return {world, accumulation, false};
}

Partition Partition::byWeights(const std::vector<double>& weights, int accumulation) {
    Partition partition = byRanks(static_cast<int>(weights.size()), accumulation);
    const double whole = std::accumulate(weights.begin(), weights.end(), 0.0);
    double before = 0;
    for (const double weight : weights) {
        partition.m_bounds.push_back(before / whole);
        before += weight;
    }
    return partition;
}

Partition Partition::byShards(int world, int shards) {
    assert(world > 0 && shards > 0 && shards % world == 0);
    return {world, shards / world, true};
}

Share Partition::pass(std::int64_t globalBatch, int rank, int pass) const {
    if (m_shards) return shareOf(globalBatch, rank * m_passes + pass, m_world * m_passes);
    const Share whole = rankShare(globalBatch, rank);
    const Share inRank = shareOf(whole.count, pass, m_passes);
    return {whole.begin + inRank.begin, inRank.count};
}

Share Partition::rankShare(std::int64_t globalBatch, int rank) const {
    if (m_bounds.empty()) return shareOf(globalBatch, rank, m_world);
    const auto bound = [&](int r) -> std::int64_t {
        if (r == m_world) return globalBatch;
        return std::llround(static_cast<double>(globalBatch) * m_bounds[static_cast<std::size_t>(r)]);
    };
    return {bound(rank), bound(rank + 1) - bound(rank)};
}

Share Partition::share(std::int64_t globalBatch, int rank) const {
    const Share first = pass(globalBatch, rank, 0), last = pass(globalBatch, rank, m_passes - 1);
    return {first.begin, last.begin + last.count - first.begin};
}

std::vector<std::int64_t> Partition::passSizes(std::int64_t globalBatch, int rank) const {
    std::vector<std::int64_t> sizes;
    for (int i = 0; i < m_passes; ++i) sizes.push_back(pass(globalBatch, rank, i).count);
    return sizes;
}

}  // namespace lockstep
