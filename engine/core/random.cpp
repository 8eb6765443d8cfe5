#include "engine/core/random.h"

#include <cmath>
#include <numbers>

namespace lockstep {

namespace {

// SplitMix64's finalizer: spreads every bit of a key over all bits (Steele, Lea, Flood, OOPSLA 2014).
std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> k) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t p0 = 0xD2511F53ull * c[0];
        const std::uint64_t p1 = 0xCD9E8D57ull * c[2];
        c = {high(p1) ^ c[1] ^ k[0], low(p1), high(p0) ^ c[3] ^ k[1], low(p0)};
        k[0] += 0x9E3779B9u;
        k[1] += 0xBB67AE85u;
    }
    return c;
}

CounterRng::CounterRng(std::uint64_t seed, std::uint64_t stream, std::uint64_t epoch, std::uint64_t index) {
    const std::uint64_t key = mix(seed + 0x9e3779b97f4a7c15ull) ^ mix(stream);
    const std::uint64_t where = mix(mix(epoch + 0x632be59bd9b4e019ull) ^ key) + index;
    m_key = {low(key), high(key)};
    m_counter = {low(where), high(where), low(index)};
}

std::uint32_t CounterRng::bits(std::uint32_t element) const {
    const auto block = philox({element / 4, m_counter[0], m_counter[1], m_counter[2]}, m_key);
    return block[element % 4];
}

std::uint64_t CounterRng::bits64(std::uint32_t element) const {
    return (static_cast<std::uint64_t>(bits(2 * element)) << 32) | bits(2 * element + 1);
}

double CounterRng::uniform(std::uint32_t element) const { return bits(element) * 0x1p-32; }

double CounterRng::normal(std::uint32_t element) const {
    const double u = (bits(2 * element) + 0.5) * 0x1p-32;
    const double v = bits(2 * element + 1) * 0x1p-32;
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

std::uint64_t CounterRng::below(std::uint64_t bound, std::uint32_t element) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(bits64(element)) * bound) >> 64);
}

}  // namespace lockstep
