#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace lockstep {

// Point `index` of a method's sequence in the unit cube: "random", "sobol" (scrambled). Pure.
std::vector<double> searchPoint(std::string_view method, std::uint64_t seed, std::uint32_t index,
                                std::size_t dimensions);

}  // namespace lockstep
