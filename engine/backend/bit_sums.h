#pragma once
#include <cstdint>

namespace lockstep {

// What an output's bits came to before a kernel wrote it and after: its 32-bit words added up modulo 2^32, the last one
// filled up with zeros.
struct BitSums {
    std::uint32_t found = 0, left = 0;
};

}  // namespace lockstep
