#pragma once
#include <cstdint>
#include <span>

#include "engine/data/colour_jitter.h"

namespace lockstep {

// How far the colours of images may be changed (torchvision's ColorJitter): the level of a pixel, its distance from the
// image's mean grey, and that from its own grey are multiplied by factors, alike within 1 - x … 1 + x and not below 0;
// hues turn by up to x of their circle, either way. 0: off.
struct JitterRanges {
    double brightness = 0, contrast = 0, saturation = 0;
    double hue = 0;  // at most 1/2
    bool isOn() const { return brightness > 0 || contrast > 0 || saturation > 0 || hue > 0; }
    bool operator==(const JitterRanges&) const = default;
};

// What is chosen for one image, the steps in any order, all as likely. It knows no pixels, so its mean grey is left at
// 0: jitterImage or settle fill it in. Depends on the channels and (seed, epoch, sample id) alone. Pure.
ColourJitter jitterOf(const JitterRanges& how, int channels, std::uint64_t seed, std::int64_t epoch,
                      std::int64_t sampleId);

// Follows it, on planes, in place.
void jitterImage(ColourJitter& jitter, int channels, std::span<std::uint8_t> image);

// Fills in the mean grey, for who follows it elsewhere. The mean is of the image as the steps before contrast leave it;
// loaders have the pixels even where a device keeps them, so it travels as one number, and what follows is of each
// pixel by itself. `scratch` has the image's size, may be the image, and is left in any state.
void settle(ColourJitter& jitter, int channels, std::span<const std::uint8_t> image, std::span<std::uint8_t> scratch);

}  // namespace lockstep
