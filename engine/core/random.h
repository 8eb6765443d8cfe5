#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace lockstep {

// Counter-based random numbers: the same key and counter give the same bits on every machine, rank and thread, and no
// stream belongs to anybody. Philox4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

// FNV-1a of a stable name ("dropout1", "shuffle", "crop"): the part of a key that tells one use from another.
constexpr std::uint64_t streamOf(std::string_view name) {
    std::uint64_t hash = 14695981039346656037ull;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    return hash;
}

// Random numbers of one use: keyed by (seed, stream, epoch or step, sample or other index); element i is random access.
class CounterRng {
public:
    CounterRng(std::uint64_t seed, std::uint64_t stream, std::uint64_t epoch, std::uint64_t index);

    std::uint32_t bits(std::uint32_t element) const;                        // 32 random bits
    std::uint64_t bits64(std::uint32_t element) const;
    double uniform(std::uint32_t element) const;                            // [0, 1), 32 bits of precision
    double normal(std::uint32_t element) const;                             // Box-Muller
    std::uint64_t below(std::uint64_t bound, std::uint32_t element) const;  // [0, bound), bound > 0; bias < 2^-32 for bound < 2^32

private:
    std::array<std::uint32_t, 2> m_key;
    std::array<std::uint32_t, 3> m_counter;
};

}  // namespace lockstep
