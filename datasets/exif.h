#pragma once
#include <cstdint>
#include <span>

namespace lockstep {

// How a camera was held, from a JPEG file's Exif segment, or a PNG file's eXIf chunk (PNG 3, 11.3.4.6): the tag
// Orientation, 1 … 8 (Exif 2.32, 4.6.4; see upright()). 1, as it lies, where there is none or it makes no sense. Reads
// headers only; never fails.
int exifOrientation(std::span<const std::uint8_t> jpeg);
int exifOrientationOfPng(std::span<const std::uint8_t> png);

}  // namespace lockstep
