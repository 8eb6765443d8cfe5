#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "datasets/picture.h"

namespace lockstep {

// Decoders of untrusted images: libjpeg-turbo and libpng, with limits on pixels and scans; no allocation is larger than
// kLargestPicture. A JPEG warning is an error (half a picture is no picture). Of a PNG's ancillary chunks only
// transparency is read, and what libpng warns of is passed over; damaged pixels are errors. A JPEG comes upright, as
// its Exif segment says (exif.h), and so does its size. Thread-safe. All throw ProblemError naming `file`:
// image.truncated, image.corrupt, image.too-large, image.unsupported-colour, image.not-an-image.

constexpr std::uint64_t kMostPixels = 64 << 20;
constexpr std::size_t kLargestPicture = 3 * kMostPixels;  // bytes

// channels: 1 grey, 3 colour.
struct PictureSize {
    int channels = 0, height = 0, width = 0;
};

struct DecodeWish {
    int channels = 3;   // 1 or 3; a PNG may still come as it is, see toSquare()
    int shortSide = 0;  // not needed larger than this: a JPEG is then decoded at a reduced scale
};

PictureSize sizeOfImage(std::span<const std::uint8_t> bytes, const std::filesystem::path& file);
Picture decodeImage(std::span<const std::uint8_t> bytes, const std::filesystem::path& file, const DecodeWish& wish);

PictureSize sizeOfJpeg(std::span<const std::uint8_t> bytes, const std::filesystem::path& file);
Picture decodeJpeg(std::span<const std::uint8_t> bytes, const std::filesystem::path& file, const DecodeWish& wish);
PictureSize sizeOfPng(std::span<const std::uint8_t> bytes, const std::filesystem::path& file);
Picture decodePng(std::span<const std::uint8_t> bytes, const std::filesystem::path& file);

// Throws image.too-large beyond kMostPixels, before anything is allocated.
void requireSaneSize(std::uint64_t width, std::uint64_t height, const std::filesystem::path& file);

}  // namespace lockstep
