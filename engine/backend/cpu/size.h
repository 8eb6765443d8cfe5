#pragma once
#include <cstddef>
#include <cstdint>

namespace lockstep::cpu {

// Extents of shapes are signed, and never negative.
inline std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

}  // namespace lockstep::cpu
