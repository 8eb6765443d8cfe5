#pragma once
#include <cstdint>

namespace lockstep {

// How the colours of one image are changed: torchvision's ColorJitter. Up to four steps one after the other, each from
// levels of 0…255 to such, rounded down and clamped, in whole numbers alone, so that hosts and cards make the same
// bits. Factors are in 1/65536. With more or fewer channels than three there is brightness and contrast alone.
struct ColourJitter {
    enum Step : std::int32_t { kNone, kBrightness, kContrast, kSaturation, kHue };
    std::int32_t steps = 0;  // four bits for each, the first of them lowest; kNone ends
    std::int32_t brightness = 0;
    std::int32_t contrast = 0;
    std::int32_t meanGrey = 0;  // what contrast adds: the image's mean grey, when its turn comes, times (1 - factor)
    std::int32_t saturation = 0;
    std::int32_t hue = 0;  // how far hues turn, in 1/65536 of a sixth of their circle

    constexpr Step at(int place) const { return static_cast<Step>(steps >> (4 * place) & 15); }
    bool operator==(const ColourJitter&) const = default;
};
inline constexpr int kJitterSteps = 4;
inline constexpr std::int32_t kJitterOne = 65536;

struct Colour {
    std::int32_t red, green, blue;
    bool operator==(const Colour&) const = default;
};

constexpr std::int32_t levelOf(std::int32_t scaled) {  // of one in 1/65536
    const std::int32_t level = scaled >> 16;
    return level < 0 ? 0 : level > 255 ? 255 : level;
}

// 0.2989 red + 0.587 green + 0.114 blue, rounded down: torchvision's. The weights are in 1/2^22, rounded up by so
// little that every colour has its exact grey.
constexpr std::int32_t greyOf(Colour c) { return (1253678 * c.red + 2462057 * c.green + 478151 * c.blue) >> 22; }

// Brightness and contrast: each channel by itself.
constexpr std::int32_t scaledLevel(std::int32_t level, std::int32_t factor, std::int32_t added) {
    return levelOf(level * factor + added);
}

constexpr Colour saturated(Colour c, std::int32_t factor) {
    const std::int32_t grey = greyOf(c) * (kJitterOne - factor);
    return {levelOf(c.red * factor + grey), levelOf(c.green * factor + grey), levelOf(c.blue * factor + grey)};
}

// A hue is a place on a circle of six parts, from red over yellow, green, cyan, blue and magenta, where one channel has
// the colour's largest level, one its least, and one changes between them (Smith, "Color gamut transform pairs",
// SIGGRAPH 1978). With `range` between the two, places here are in 1/65536 of a part times the range: no division.
constexpr std::int32_t hueOf(Colour c, std::int32_t largest, std::int32_t range) {
    if (largest == c.red) return c.green - c.blue;
    if (largest == c.green) return 2 * range + c.blue - c.red;
    return 4 * range + c.red - c.green;
}

constexpr std::int32_t distance(std::int32_t a, std::int32_t b) { return a < b ? b - a : a - b; }

// Of a channel whose own hue is at `centre`: the whole range up to one part from there, nothing from two.
constexpr std::int32_t shareAt(std::int32_t place, std::int32_t centre, std::int32_t part) {
    const std::int32_t apart = distance(place, centre);
    const std::int32_t near = apart > 3 * part ? 6 * part - apart : apart;  // the other way round the circle
    const std::int32_t share = 2 * part - near;
    return share < 0 ? 0 : share > part ? part : share;
}

// 256/255 of it, rounded down: torchvision's way from 0…1 to levels. Whole levels stay.
constexpr std::int32_t stretchedLevel(std::int32_t scaled) { return (scaled + (scaled >> 8)) >> 16; }

constexpr Colour turned(Colour c, std::int32_t hue) {
    const std::int32_t rg = c.red > c.green ? c.red : c.green, gr = c.red < c.green ? c.red : c.green;
    const std::int32_t largest = rg > c.blue ? rg : c.blue, least = gr < c.blue ? gr : c.blue;
    const std::int32_t range = largest - least, part = range * kJitterOne;
    std::int32_t place = hueOf(c, largest, range) * kJitterOne + hue * range;  // between -4 and 8 parts
    place += place < 0 ? 6 * part : place >= 6 * part ? -6 * part : 0;
    const std::int32_t base = least * kJitterOne;
    return {stretchedLevel(base + shareAt(place, 0, part)), stretchedLevel(base + shareAt(place, 2 * part, part)),
            stretchedLevel(base + shareAt(place, 4 * part, part))};
}

constexpr Colour stepped(const ColourJitter& how, ColourJitter::Step step, Colour c) {
    const auto scaled = [&](std::int32_t factor, std::int32_t added) -> Colour {
        return {scaledLevel(c.red, factor, added), scaledLevel(c.green, factor, added),
                scaledLevel(c.blue, factor, added)};
    };
    switch (step) {
        case ColourJitter::kBrightness: return scaled(how.brightness, 0);
        case ColourJitter::kContrast: return scaled(how.contrast, how.meanGrey);
        case ColourJitter::kSaturation: return saturated(c, how.saturation);
        case ColourJitter::kHue: return turned(c, how.hue);
        default: return c;
    }
}

// The definition all follow, for one pixel; one channel alone is a grey.
constexpr Colour jittered(const ColourJitter& how, Colour c) {
    for (int place = 0; place < kJitterSteps; ++place) c = stepped(how, how.at(place), c);
    return c;
}

}  // namespace lockstep
