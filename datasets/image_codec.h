#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

#include "datasets/picture.h"

namespace lockstep {

// Decoders of untrusted images: libjpeg-turbo and libpng, with limits on pixels and scans; no allocation is larger than
// kLargestPicture. A JPEG warning is an error (half a picture is no picture). Of a PNG's ancillary chunks only
// transparency and Exif are read, and what libpng warns of is passed over; damaged pixels are errors. Pictures come
// upright, as their Exif says (exif.h), and so does their size. Thread-safe. All throw ProblemError naming `file`:
// image.truncated, image.corrupt, image.too-large, image.unsupported-colour, image.not-an-image.

constexpr std::uint64_t kMostPixels = 64 << 20;
constexpr std::size_t kLargestPicture = 4 * kMostPixels;  // bytes

// channels: 1 grey, 3 colour.
struct PictureSize {
    int channels = 0, height = 0, width = 0;
};

// How truly a JPEG is decoded. Exact: each pixel as the format defines it. Fast: of a part that becomes smaller the
// decoder's half, quarter or eighth, and without what lies beside it.
enum class Decode { Fast, Exact };

struct DecodeWish {
    int channels = 3;  // 1 or 3; a PNG may still come as it is
    // Which part of an upright picture of that size is wanted, and how large it will be made; empty: all of it.
    std::function<PictureBox(const PictureSize& size)> part = {};
    int height = 0, width = 0;
    double reach = 0;  // how far beside the part pixels count, in pixels of what it becomes
    Decode decode = Decode::Exact;
};
// What was decoded, which is the part and perhaps more, and where the part is.
struct DecodedPart {
    PixelView view;
    PictureBox box;
    Picture picture = {};  // that is seen, unless it lies elsewhere
};

PictureSize sizeOfImage(std::span<const std::uint8_t> bytes, const std::filesystem::path& file);
// Uses the memory of `into`.
void decodeImage(std::span<const std::uint8_t> bytes, const std::filesystem::path& file, const DecodeWish& wish,
                 DecodedPart& into);

PictureSize sizeOfJpeg(std::span<const std::uint8_t> bytes, const std::filesystem::path& file);
void decodeJpeg(std::span<const std::uint8_t> bytes, const std::filesystem::path& file, const DecodeWish& wish,
                DecodedPart& into);
PictureSize sizeOfPng(std::span<const std::uint8_t> bytes, const std::filesystem::path& file);
void decodePng(std::span<const std::uint8_t> bytes, const std::filesystem::path& file, const DecodeWish& wish,
               DecodedPart& into);

// Throws image.too-large beyond kMostPixels, before anything is allocated.
void requireSaneSize(std::uint64_t width, std::uint64_t height, const std::filesystem::path& file);

}  // namespace lockstep
