#include "datasets/picture.h"

#include <cstring>

namespace lockstep {

std::uint8_t greyOf(int red, int green, int blue) {
    return static_cast<std::uint8_t>((299 * red + 587 * green + 114 * blue + 500) / 1000);
}

void toGrey(const PixelView& colour, Picture& grey) {
    grey.channels = 1;
    grey.setSize(colour.height, colour.width);
    for (int y = 0; y < colour.height; ++y) {
        const std::uint8_t* from = colour.pixels + static_cast<std::size_t>(y) * colour.rowBytes;
        std::uint8_t* to = grey.row(y);
        for (int x = 0; x < colour.width; ++x, from += 3) to[x] = greyOf(from[0], from[1], from[2]);
    }
}

// Exif names where row 0 and column 0 of what is stored belong: 1 top left, 2 top right, 3 bottom right, 4 bottom left,
// 5 left top, 6 right top, 7 right bottom, 8 left bottom.
Picture upright(Picture picture, int orientation) {
    if (orientation < 2 || orientation > 8) return picture;
    const bool swaps = liesOnItsSide(orientation);
    const bool fromBottom = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
    const bool fromRight = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
    Picture out{.channels = picture.channels};
    if (swaps) out.setSize(picture.width, picture.height);
    else out.setSize(picture.height, picture.width);
    const auto bytes = static_cast<std::size_t>(picture.channels);
    std::uint8_t* to = out.pixels.data();
    for (int y = 0; y < out.height; ++y) {
        const int down = fromBottom ? out.height - 1 - y : y;
        for (int x = 0; x < out.width; ++x, to += bytes) {
            const int across = fromRight ? out.width - 1 - x : x;
            const auto column = static_cast<std::size_t>(swaps ? down : across);
            std::memcpy(to, picture.row(swaps ? across : down) + column * bytes, bytes);
        }
    }
    return out;
}

}  // namespace lockstep
