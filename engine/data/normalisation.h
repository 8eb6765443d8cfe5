#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/data/dataset.h"

namespace lockstep {

constexpr std::int64_t kMostNormalising = 5000;  // images

// Sets mean and deviation of each channel, of pixels scaled to 0…1, from up to kMostNormalising images spread evenly. A
// channel that never changes gets deviation 1. Images that cannot be read are passed over.
void measureNormalisation(DatasetInfo& info, std::span<const std::uint8_t> pixels);  // images one behind the other
void measureNormalisation(DatasetInfo& info, const Dataset& images);
// Of so many images those that it is measured of where they are chosen by a hash: of a folder of images, however they
// are kept.
std::vector<std::int64_t> normalisingSamples(std::int64_t count, std::int64_t most = kMostNormalising);
void measureNormalisation(DatasetInfo& info, std::span<const std::uint8_t> pixels,
                          std::span<const std::int64_t> samples);
// Likewise, from these samples; returns how many of them could be read. `advance` hears how many have been tried;
// empty: nobody does.
std::int64_t measureNormalisation(DatasetInfo& info, const Dataset& images, std::span<const std::int64_t> samples,
                                  const std::function<void(std::int64_t done)>& advance = {});

}  // namespace lockstep
