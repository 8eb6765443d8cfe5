#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/data/resample.h"

namespace lockstep {

// A decoded image, row by row, channels interleaved. Its memory may be used for the next one.
struct Picture {
    int channels = 0, height = 0, width = 0;  // channels: 1 or 3
    std::vector<std::uint8_t> pixels = {};    // or more than there are

    std::size_t rowBytes() const { return static_cast<std::size_t>(channels) * static_cast<std::size_t>(width); }
    std::uint8_t* row(int y) { return pixels.data() + static_cast<std::size_t>(y) * rowBytes(); }
    const std::uint8_t* row(int y) const { return pixels.data() + static_cast<std::size_t>(y) * rowBytes(); }
    PixelView view() const { return {pixels.data(), channels, height, width, rowBytes()}; }
    void reserve(std::size_t bytes) {
        if (pixels.size() < bytes) pixels.resize(bytes);
    }
    void setSize(int rows, int columns) {
        height = rows, width = columns;
        reserve(rowBytes() * static_cast<std::size_t>(rows));
    }
};

// By ITU-R 601.
std::uint8_t greyOf(int red, int green, int blue);
void toGrey(const PixelView& colour, Picture& grey);

// The picture as it was seen through a camera held so (Exif's Orientation): 2 is mirrored, 3 upside down, 4 both; 5 … 8
// lie on their side, which swaps height and width. 1, or no such number: as it is.
Picture upright(Picture picture, int orientation);
constexpr bool liesOnItsSide(int orientation) { return orientation >= 5 && orientation <= 8; }

}  // namespace lockstep
