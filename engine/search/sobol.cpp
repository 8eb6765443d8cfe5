#include "engine/search/sobol.h"

#include <array>
#include <bit>

#include "engine/core/random.h"
#include "engine/search/sobol_directions.h"

namespace lockstep {

namespace {

constexpr int kBits = 32;
using Directions = std::array<std::uint32_t, kBits>;

Directions directionsOf(int dimension) {
    Directions v{};
    if (dimension == 0) {
        for (int bit = 0; bit < kBits; ++bit) v[static_cast<std::size_t>(bit)] = 1u << (kBits - 1 - bit);
        return v;
    }
    const SobolPolynomial& p = kSobolPolynomials[static_cast<std::size_t>(dimension - 1)];
    const auto s = static_cast<std::size_t>(p.degree);
    for (std::size_t i = 0; i < kBits; ++i) {
        if (i < s) {
            v[i] = p.initial[i] << (kBits - 1 - i);
            continue;
        }
        v[i] = v[i - s] ^ (v[i - s] >> s);
        for (std::size_t k = 1; k < s; ++k) v[i] ^= ((p.coefficients >> (s - 1 - k)) & 1u) * v[i - k];
    }
    return v;
}

const Directions& directions(int dimension) {
    static const auto all = [] {
        std::array<Directions, kSobolDimensions> made;
        for (int d = 0; d < kSobolDimensions; ++d) made[static_cast<std::size_t>(d)] = directionsOf(d);
        return made;
    }();
    return all[static_cast<std::size_t>(dimension)];
}

std::uint32_t owenScrambled(std::uint32_t fraction, std::uint64_t seed, int dimension) {
    const CounterRng rng(seed, streamOf("sobol"), static_cast<std::uint64_t>(dimension), 0);
    std::uint32_t flips = 0;
    for (int bit = 0; bit < kBits; ++bit) {
        const std::uint32_t above = bit == 0 ? 0 : fraction >> (kBits - bit);
        const std::uint32_t node = (1u << bit) | above;  // of the tree of all bits
        flips |= (rng.bits(node) & 1u) << (kBits - 1 - bit);
    }
    return fraction ^ flips;
}

}  // namespace

std::vector<std::uint32_t> sobolPoint(std::uint32_t index, int dimensions) {
    std::vector<std::uint32_t> point(static_cast<std::size_t>(dimensions), 0);
    const std::uint32_t gray = index ^ (index >> 1);
    for (int d = 0; d < dimensions; ++d) {
        const Directions& v = directions(d);
        for (std::uint32_t rest = gray; rest; rest &= rest - 1)
            point[static_cast<std::size_t>(d)] ^= v[static_cast<std::size_t>(std::countr_zero(rest))];
    }
    return point;
}

std::vector<double> scrambledSobolPoint(std::uint64_t seed, std::uint32_t index, int dimensions) {
    std::vector<double> point;
    const auto plain = sobolPoint(index, dimensions);
    for (int d = 0; d < dimensions; ++d)
        point.push_back(owenScrambled(plain[static_cast<std::size_t>(d)], seed, d) * 0x1p-32);
    return point;
}

}  // namespace lockstep
