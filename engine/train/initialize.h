#pragma once
#include <cstdint>

#include "engine/core/tensor.h"
#include "engine/graph/graph.h"

namespace lockstep {

// The first values of a parameter or buffer: element i of the logical tensor depends on (seed, name, i) alone, so
// neither layout, rank nor thread matters. Kinds and bounds: Initializer.
HostTensor initialTensor(const Value& value, std::uint64_t seed);
void fillInitial(const Value& value, std::uint64_t seed, std::byte* to);  // row-major, of the value's type

}  // namespace lockstep
