#include "datasets/image_codec.h"

#include "engine/core/result.h"

namespace lockstep {

namespace {

enum class Kind { Jpeg, Png };

// By the first bytes: ImageNet has PNG files whose names end in .JPEG.
Kind kindOf(std::span<const std::uint8_t> bytes, const std::filesystem::path& file) {
    if (bytes.size() >= 2 && bytes[0] == 0xff && bytes[1] == 0xd8) return Kind::Jpeg;
    if (bytes.size() >= 4 && bytes[0] == 0x89 && bytes[1] == 'P' && bytes[2] == 'N' && bytes[3] == 'G')
        return Kind::Png;
    throw ProblemError({file.string(), bytes.empty() ? "image.empty" : "image.not-an-image", {}});
}

}  // namespace

void requireSaneSize(std::uint64_t width, std::uint64_t height, const std::filesystem::path& file) {
    if (width <= kMostPixels && height <= kMostPixels && width * height <= kMostPixels) return;
    throw ProblemError({file.string(),
                        "image.too-large",
                        {std::to_string(width), std::to_string(height), std::to_string(kMostPixels >> 20)}});
}

PictureSize sizeOfImage(std::span<const std::uint8_t> bytes, const std::filesystem::path& file) {
    return kindOf(bytes, file) == Kind::Jpeg ? sizeOfJpeg(bytes, file) : sizeOfPng(bytes, file);
}

void decodeImage(std::span<const std::uint8_t> bytes, const std::filesystem::path& file, const DecodeWish& wish,
                 DecodedPart& into) {
    if (kindOf(bytes, file) == Kind::Jpeg) decodeJpeg(bytes, file, wish, into);
    else decodePng(bytes, file, wish, into);
}

}  // namespace lockstep
