#pragma once
#include <cstdint>
#include <vector>

namespace lockstep {

// Sobol's sequence in up to kSobolDimensions dimensions, with the direction numbers of Joe and Kuo ("Constructing Sobol
// sequences with better two-dimensional projections", SIAM J. Sci. Comput. 30, 2008; new-joe-kuo-6.21201), in the order
// of the index's Gray code, as SciPy and most others have it. Pure.
constexpr int kSobolDimensions = 40;

// Coordinates of point `index` as 32-bit fractions.
std::vector<std::uint32_t> sobolPoint(std::uint32_t index, int dimensions);

// Scrambled by Owen's nested uniform scrambling ("Randomly permuted (t,m,s)-nets and (t,s)-sequences", 1995): every bit
// is flipped by a random bit of its own that depends on the bits above it, the dimension and the seed. A net stays a
// net: each interval of 1/2^m of each axis has one of the first 2^m points.
std::vector<double> scrambledSobolPoint(std::uint64_t seed, std::uint32_t index, int dimensions);

}  // namespace lockstep
