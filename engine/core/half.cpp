#include "engine/core/half.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

namespace lockstep {

namespace {

float singleOf(DType half, std::uint16_t bits) {
    if (half == DType::BF16) return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    float size = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                               : std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
    if (exponent == 0x1f) size = fraction == 0 ? HUGE_VALF : std::nanf("");
    return bits & 0x8000 ? -size : size;
}

}  // namespace

HostTensor widened(HostTensor tensor) {
    const auto [shape, dtype] = tensor.type();
    if (!isHalf(dtype)) return tensor;
    HostTensor singles({shape, DType::F32});
    std::ranges::transform(std::as_const(tensor).as<std::uint16_t>(), singles.as<float>().begin(),
                           [half = dtype](std::uint16_t bits) { return singleOf(half, bits); });
    return singles;
}

}  // namespace lockstep
