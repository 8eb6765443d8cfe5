#pragma once
#include <cstdint>
#include <vector>

#include "engine/data/partition.h"

namespace lockstep {

// Which sample stands where in which step: a pure function of (count, seed, epoch, batch). Every sample exactly once
// per epoch; a new order every epoch; the order of the epoch does not depend on the number of ranks or the batch. The
// permutation is computed by index (a keyed Feistel network over the next power of four, cycle-walking), so nothing is
// stored and any position is random access: Black & Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002.
class Sampler {
public:
    enum class Order { Shuffled, Sequential };
    Sampler(std::int64_t count, std::int64_t globalBatch, std::uint64_t seed, Order order);

    std::int64_t count() const { return m_count; }
    std::int64_t globalBatch() const { return m_globalBatch; }
    std::int64_t stepsPerEpoch() const;               // the last one may be short
    std::int64_t batchSize(std::int64_t step) const;  // samples of the step's global batch
    std::int64_t sampleAt(std::int64_t epoch, std::int64_t position) const;
    // Sample ids of a share of step `step` of `epoch`; written into `ids` (resized, keeps its capacity).
    void batch(std::int64_t epoch, std::int64_t step, const Share& share, std::vector<std::int64_t>& ids) const;

private:
    std::int64_t m_count, m_globalBatch;
    std::uint64_t m_seed;
    Order m_order;
    int m_halfBits;
};

}  // namespace lockstep
