#include "engine/core/random.h"

#include <cmath>
#include <numbers>

namespace lockstep {

std::uint64_t CounterRng::bits64(std::uint32_t element) const {
    return (static_cast<std::uint64_t>(bits(2 * element)) << 32) | bits(2 * element + 1);
}

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
