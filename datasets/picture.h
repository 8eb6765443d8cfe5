#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep {

// A decoded image, row by row, channels interleaved.
struct Picture {
    int channels = 0, height = 0, width = 0;
    std::vector<std::uint8_t> pixels;
};

// The picture as it was seen through a camera held so (Exif's Orientation): 2 is mirrored, 3 upside down, 4 both; 5 … 8
// lie on their side, which swaps height and width. 1, or no such number: as it is.
Picture upright(Picture picture, int orientation);
constexpr bool liesOnItsSide(int orientation) { return orientation >= 5 && orientation <= 8; }

// The centred square of the short side, scaled to size x size, as `channels` planes (1 grey by ITU-R 601, 3 colour)
// into `out`. Halved by means of 2x2 while twice too large, then bilinear between pixel centres; a fitting picture
// stays exact.
void toSquare(Picture picture, int size, int channels, std::span<std::uint8_t> out);

}  // namespace lockstep
