#pragma once
#include <array>
#include <cstdint>

namespace lockstep {

// A primitive polynomial over GF(2), x^degree + ... + 1 with the coefficients between as bits, the highest power first,
// and the first direction numbers, odd and below 2^1, 2^2, 2^3...
struct SobolPolynomial {
    int degree;
    std::uint32_t coefficients;
    std::array<std::uint32_t, 8> initial;
};
// Of the second dimension and those behind it.
extern const std::array<SobolPolynomial, 39> kSobolPolynomials;

}  // namespace lockstep
