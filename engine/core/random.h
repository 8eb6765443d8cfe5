#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace lockstep {

// Counter-based random numbers: the same key and counter give the same bits on every machine, rank and thread, and no
// stream belongs to anybody. Philox4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
// constexpr, as all that kernels draw from, so that nvcc compiles it for cards, too.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t p0 = 0xD2511F53ull * counter[0], p1 = 0xCD9E8D57ull * counter[2];
        counter = {static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(p1),
                   static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(p0)};
        key[0] += 0x9E3779B9u;
        key[1] += 0xBB67AE85u;
    }
    return counter;
}

// FNV-1a of a stable name ("dropout1", "shuffle", "crop"): the part of a key that tells one use from another.
constexpr std::uint64_t streamOf(std::string_view name) {
    std::uint64_t hash = 14695981039346656037ull;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    return hash;
}

// Random numbers of one use: keyed by (seed, stream, epoch or step, sample or other index); element i is random access.
class CounterRng {
public:
    constexpr CounterRng(std::uint64_t seed, std::uint64_t stream, std::uint64_t epoch, std::uint64_t index) {
        const std::uint64_t key = mix(seed + 0x9e3779b97f4a7c15ull) ^ mix(stream);
        const std::uint64_t where = mix(mix(epoch + 0x632be59bd9b4e019ull) ^ key) + index;
        m_key = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
        m_counter = {static_cast<std::uint32_t>(where), static_cast<std::uint32_t>(where >> 32),
                     static_cast<std::uint32_t>(index)};
    }

    constexpr std::uint32_t bits(std::uint32_t element) const {  // 32 random bits
        return philox({element / 4, m_counter[0], m_counter[1], m_counter[2]}, m_key)[element % 4];
    }
    std::uint64_t bits64(std::uint32_t element) const;
    constexpr double uniform(std::uint32_t element) const {  // [0, 1), 32 bits of precision
        return bits(element) * 0x1p-32;
    }
    double normal(std::uint32_t element) const;  // Box-Muller
    std::uint64_t below(std::uint64_t bound,
                        std::uint32_t element) const;  // [0, bound), bound > 0; bias < 2^-32 for bound < 2^32

private:
    // SplitMix64's finalizer: spreads every bit of a key over all bits (Steele, Lea, Flood, OOPSLA 2014).
    static constexpr std::uint64_t mix(std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
        return x ^ (x >> 31);
    }

    std::array<std::uint32_t, 2> m_key{};
    std::array<std::uint32_t, 3> m_counter{};
};

}  // namespace lockstep
