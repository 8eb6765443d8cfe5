#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

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

}  // namespace lockstep
