#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/backend/cpu/simd/table.h"
#include "engine/core/random.h"

namespace lockstep {

using Floats = std::vector<float>;

// Normally distributed numbers, the same for every stream in every run.
inline Floats noise(std::uint64_t stream, std::size_t count, double mean = 0) {
    const CounterRng rng(5, stream, 0, 0);
    Floats values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<float>(rng.normal(static_cast<std::uint32_t>(i)) + mean);
    return values;
}

// Rounded to bf16, as floats and as such.
inline Floats rounded(Floats values) {
    cpu::bestSimd().roundToBf16(values.data(), values.size());
    return values;
}
inline std::vector<cpu::Bf16> bf16Of(const Floats& values) {
    std::vector<cpu::Bf16> halves;
    for (const float each : rounded(values)) halves.push_back(cpu::Bf16(std::bit_cast<std::uint32_t>(each) >> 16));
    return halves;
}

}  // namespace lockstep
