#include "datasets/picture.h"

#include <algorithm>
#include <cassert>

namespace lockstep {

namespace {

std::size_t rowBytes(const Picture& picture) {
    return static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.channels);
}

Picture blank(int channels, int height, int width) {
    Picture picture{channels, height, width, {}};
    picture.pixels.resize(rowBytes(picture) * static_cast<std::size_t>(height));
    return picture;
}

Picture grey(const Picture& in) {
    Picture out = blank(1, in.height, in.width);
    for (std::size_t i = 0; i < out.pixels.size(); ++i) {
        const std::uint8_t* p = &in.pixels[3 * i];
        out.pixels[i] = static_cast<std::uint8_t>((299 * p[0] + 587 * p[1] + 114 * p[2] + 500) / 1000);
    }
    return out;
}

Picture halved(const Picture& in) {
    Picture out = blank(in.channels, in.height / 2, in.width / 2);
    const std::size_t channels = static_cast<std::size_t>(in.channels), row = rowBytes(in);
    std::uint8_t* to = out.pixels.data();
    for (int y = 0; y < out.height; ++y) {
        const std::uint8_t* from = &in.pixels[2 * static_cast<std::size_t>(y) * row];
        for (int x = 0; x < out.width; ++x, from += channels) {
            for (std::size_t c = 0; c < channels; ++c, ++from) {
                *to++ =
                    static_cast<std::uint8_t>((from[0] + from[channels] + from[row] + from[row + channels] + 2) / 4);
            }
        }
    }
    return out;
}

// Output position -> two neighbouring input positions and the weight of the second.
struct Tap {
    int first, second;
    float weight;
};

std::vector<Tap> taps(int from, int to, int offset) {
    std::vector<Tap> out;
    const double scale = static_cast<double>(from) / to;
    for (int i = 0; i < to; ++i) {
        const double at = std::clamp((i + 0.5) * scale - 0.5, 0.0, from - 1.0);
        const int first = static_cast<int>(at);
        out.push_back({offset + first, offset + std::min(first + 1, from - 1), static_cast<float>(at - first)});
    }
    return out;
}

void scalePlane(const Picture& in, std::size_t channel, const std::vector<Tap>& rows, const std::vector<Tap>& columns,
                std::uint8_t* out) {
    const std::size_t channels = static_cast<std::size_t>(in.channels), row = rowBytes(in);
    for (const Tap& y : rows) {
        const std::uint8_t* top = &in.pixels[static_cast<std::size_t>(y.first) * row + channel];
        const std::uint8_t* bottom = &in.pixels[static_cast<std::size_t>(y.second) * row + channel];
        for (const Tap& x : columns) {
            const std::size_t left = static_cast<std::size_t>(x.first) * channels;
            const std::size_t right = static_cast<std::size_t>(x.second) * channels;
            const auto across = [&](const std::uint8_t* line) {
                return static_cast<float>(line[left]) + x.weight * static_cast<float>(line[right] - line[left]);
            };
            const float high = across(top), low = across(bottom);
            *out++ = static_cast<std::uint8_t>(high + y.weight * (low - high) + 0.5f);
        }
    }
}

}  // namespace

// Exif names where row 0 and column 0 of what is stored belong: 1 top left, 2 top right, 3 bottom right, 4 bottom left,
// 5 left top, 6 right top, 7 right bottom, 8 left bottom.
Picture upright(Picture picture, int orientation) {
    if (orientation < 2 || orientation > 8) return picture;
    const bool swaps = liesOnItsSide(orientation);
    const bool fromBottom = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
    const bool fromRight = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
    Picture out = swaps ? blank(picture.channels, picture.width, picture.height)
                        : blank(picture.channels, picture.height, picture.width);
    const auto channels = static_cast<std::size_t>(picture.channels);
    std::uint8_t* to = out.pixels.data();
    for (int y = 0; y < out.height; ++y) {
        const int down = fromBottom ? out.height - 1 - y : y;
        for (int x = 0; x < out.width; ++x, to += channels) {
            const int across = fromRight ? out.width - 1 - x : x;
            const auto row = static_cast<std::size_t>(swaps ? across : down);
            const auto column = static_cast<std::size_t>(swaps ? down : across);
            std::copy_n(&picture.pixels[row * rowBytes(picture) + column * channels], channels, to);
        }
    }
    return out;
}

void toSquare(Picture picture, int size, int channels, std::span<std::uint8_t> out) {
    const std::size_t plane = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
    assert(out.size() == plane * static_cast<std::size_t>(channels));
    if (channels == 1 && picture.channels == 3) picture = grey(picture);
    while (std::min(picture.height, picture.width) >= 2 * size) picture = halved(picture);

    const int side = std::min(picture.height, picture.width);
    const auto rows = taps(side, size, (picture.height - side) / 2),
               columns = taps(side, size, (picture.width - side) / 2);
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
        scalePlane(picture, picture.channels == 1 ? 0 : c, rows, columns, &out[c * plane]);
    }
}

}  // namespace lockstep
