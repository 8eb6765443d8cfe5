#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/core/error.h"

namespace lockstep {

// Before a kernel on the host follows numbers that come out of the data. Throws EngineError(Device) naming the first
// that is not between low and high: "token 300 at place 7 …". `where` is the kernel.
inline void expectBetween(std::string_view where, std::string_view what, std::span<const std::int32_t> numbers,
                          std::int64_t low, std::int64_t high) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (numbers[i] >= low && numbers[i] <= high) continue;
        throw EngineError(EngineError::Kind::Device, std::string(where),
                          std::string(what) + " " + std::to_string(numbers[i]) + " at place " + std::to_string(i) +
                              " is not between " + std::to_string(low) + " and " + std::to_string(high));
    }
}

}  // namespace lockstep
