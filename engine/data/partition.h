#pragma once
#include <cstdint>
#include <vector>

namespace lockstep {

// A run of positions within a global batch.
struct Share {
    std::int64_t begin = 0, count = 0;
    bool operator==(const Share&) const = default;
};
// Contiguous shares whose counts differ by at most one; earlier parts get the larger ones. The shares of all parts make
// up the whole exactly.
Share shareOf(std::int64_t whole, int part, int parts);

// How every global batch is divided: each rank takes its share in one pass or in several, one after another. A value;
// const calls are thread-safe.
class Partition {
public:
    // One rank that takes everything in one pass.
    Partition() = default;
    // Equal shares for the ranks; each is taken in `accumulation` passes, so that a pass needs less memory.
    static Partition byRanks(int world, int accumulation);
    // Shares in proportion to `weights` (by rank, finite, above 0), each rounded to whole samples; one may be empty.
    static Partition byWeights(const std::vector<double>& weights, int accumulation);
    // The batch consists of `shards` logical shards, whatever the world; a pass is a shard. The world divides the
    // shards.
    static Partition byShards(int world, int shards);

    int world() const { return m_world; }
    int passes() const { return m_passes; }                          // of each rank
    Share pass(std::int64_t globalBatch, int rank, int pass) const;  // may be empty
    Share share(std::int64_t globalBatch, int rank) const;           // all passes of the rank together
    std::vector<std::int64_t> passSizes(std::int64_t globalBatch, int rank) const;

private:
    Share rankShare(std::int64_t globalBatch, int rank) const;

    Partition(int world, int passes, bool shards) : m_world(world), m_passes(passes), m_shards(shards) {}

    int m_world = 1, m_passes = 1;
    bool m_shards = false;
    std::vector<double> m_bounds;  // by rank: where its share begins, of 1; empty: equal shares
};

}  // namespace lockstep
