#pragma once
#include <cstdint>
#include <vector>

namespace lockstep {

// Which samples a global batch holds and which of them a rank gets.
struct Share {
    std::int64_t begin = 0, count = 0;               // positions within the global batch
};
// Contiguous shares whose counts differ by at most one; earlier ranks get the larger ones. Shares of all ranks make up the
// global batch exactly.
Share shareOf(std::int64_t globalBatch, int rank, int world);

// Who reads which sample in which step: a pure function of (count, seed, epoch, batch, rank, world). Every sample exactly
// once per epoch; a new order every epoch; the order of the epoch does not depend on the number of ranks or the batch.
// The permutation is computed by index (a keyed Feistel network over the next power of four, cycle-walking), so nothing is
// stored and any position is random access: Black & Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002.
class Sampler {
public:
    enum class Order { Shuffled, Sequential };
    Sampler(std::int64_t count, std::int64_t globalBatch, std::uint64_t seed, Order order);

    std::int64_t count() const { return m_count; }
    std::int64_t globalBatch() const { return m_globalBatch; }
    std::int64_t stepsPerEpoch() const;                                  // the last one may be short
    std::int64_t batchSize(std::int64_t step) const;                     // samples of the step's global batch
    std::int64_t sampleAt(std::int64_t epoch, std::int64_t position) const;
    // Sample ids of a rank's share of step `step` of `epoch`; written into `ids` (resized, keeps its capacity).
    void batch(std::int64_t epoch, std::int64_t step, int rank, int world, std::vector<std::int64_t>& ids) const;

private:
    std::int64_t m_count, m_globalBatch;
    std::uint64_t m_seed;
    Order m_order;
    int m_halfBits;
};

}  // namespace lockstep
