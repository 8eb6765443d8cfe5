#include "engine/data/sampler.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "engine/core/random.h"

namespace lockstep {

namespace {

// Eight rounds: four make a Feistel network pseudo-random (Luby & Rackoff, 1988), the rest make up for halves of one or
// two bits, where a single round mixes little.
constexpr int kRounds = 8;

// The keyed permutation of 0 … 4^halfBits - 1 of one epoch.
class EpochPermutation {
public:
    EpochPermutation(std::uint64_t seed, std::int64_t epoch, int halfBits)
        : m_halfBits(halfBits), m_mask((1ull << halfBits) - 1) {
        const CounterRng rng(seed, streamOf("shuffle"), static_cast<std::uint64_t>(epoch), 0);
        for (int round = 0; round < kRounds; ++round) m_keys[round] = rng.bits64(static_cast<std::uint32_t>(round));
    }

    std::uint64_t operator()(std::uint64_t value) const {
        std::uint64_t left = value >> m_halfBits, right = value & m_mask;
        for (const std::uint64_t key : m_keys) {
            const std::uint64_t mixed = left ^ (scatter(right ^ key) & m_mask);
            left = right;
            right = mixed;
        }
        return (left << m_halfBits) | right;
    }

    // Cycle-walking: follows the permutation until it lands below `count`.
    std::uint64_t below(std::uint64_t count, std::uint64_t value) const {
        do value = (*this)(value);
        while (value >= count);
        return value;
    }

private:
    static std::uint64_t scatter(std::uint64_t x) {
        x *= 0xbf58476d1ce4e5b9ull;
        x ^= x >> 32;
        x *= 0x94d049bb133111ebull;
        return x >> 32;
    }

    int m_halfBits;
    std::uint64_t m_mask;
    std::array<std::uint64_t, kRounds> m_keys{};
};

int halfBitsFor(std::int64_t count) {
    int bits = 0;
    while (bits < 31 && (std::int64_t{1} << (2 * bits)) < count) ++bits;
    return bits;
}

}  // namespace

Sampler::Sampler(std::int64_t count, std::int64_t globalBatch, std::uint64_t seed, Order order)
    : m_count(std::max<std::int64_t>(count, 0)),
      m_globalBatch(std::max<std::int64_t>(globalBatch, 1)),
      m_seed(seed),
      m_order(order),
      m_halfBits(halfBitsFor(m_count)) {}

std::int64_t Sampler::stepsPerEpoch() const { return m_count / m_globalBatch + (m_count % m_globalBatch != 0); }

std::int64_t Sampler::batchSize(std::int64_t step) const {
    return std::clamp<std::int64_t>(m_count - step * m_globalBatch, 0, m_globalBatch);
}

std::int64_t Sampler::sampleAt(std::int64_t epoch, std::int64_t position) const {
    assert(position >= 0 && position < m_count);
    if (m_order == Order::Sequential) return position;
    const EpochPermutation permutation(m_seed, epoch, m_halfBits);
    return static_cast<std::int64_t>(
        permutation.below(static_cast<std::uint64_t>(m_count), static_cast<std::uint64_t>(position)));
}

void Sampler::batch(std::int64_t epoch, std::int64_t step, const Share& share, std::vector<std::int64_t>& ids) const {
    const std::int64_t first = step * m_globalBatch + share.begin;
    const EpochPermutation permutation(m_seed, epoch, m_halfBits);
    ids.resize(static_cast<std::size_t>(share.count));
    for (std::int64_t i = 0; i < share.count; ++i) {
        const auto position = static_cast<std::uint64_t>(first + i);
        const auto sample =
            m_order == Order::Sequential ? position : permutation.below(static_cast<std::uint64_t>(m_count), position);
        ids[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(sample);
    }
}

}  // namespace lockstep
