#pragma once
#include <cstdint>
#include <span>

#include "engine/data/dataset.h"

namespace lockstep {

// Sets mean and deviation of each channel, of pixels scaled to 0…1, from up to 5,000 images spread evenly. A channel
// that never changes gets deviation 1.
void measureNormalisation(DatasetInfo& info, std::span<const std::uint8_t> pixels);  // images one behind the other
void measureNormalisation(DatasetInfo& info, const Dataset& images);                 // throws what Dataset::read throws

}  // namespace lockstep
