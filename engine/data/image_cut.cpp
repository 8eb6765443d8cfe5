#include "engine/data/image_cut.h"

#include <algorithm>
#include <cmath>

#include "engine/core/random.h"

namespace lockstep {

namespace {

// The largest in the middle whose sides are within the limits.
PictureBox largestWithin(const RandomCut& how, int height, int width) {
    const double sides = static_cast<double>(width) / height;
    int wide = width, high = height;
    if (sides < how.narrowest) high = static_cast<int>(std::lround(width / how.narrowest));
    if (sides > how.widest) wide = static_cast<int>(std::lround(height * how.widest));
    wide = std::clamp(wide, 1, width), high = std::clamp(high, 1, height);
    const double left = (width - wide) / 2, top = (height - high) / 2;
    return {left, top, left + wide, top + high};
}

}  // namespace

ImageCut middleCut(int height, int width, int size, double share) {
    const double shorter = std::round(size / share);
    const bool isUpright = height > width;
    const int longSide = std::max(height, width), shortSide = std::min(height, width);
    const double longer = std::floor(shorter * longSide / shortSide);  // as torchvision: whole pixels
    const double high = isUpright ? longer : shorter, wide = isUpright ? shorter : longer;
    const double down = height / high, across = width / wide;  // pixels of the picture in one of the scaled one
    const double top = std::nearbyint((high - size) / 2), left = std::nearbyint((wide - size) / 2);
    return {.box = {left * across, top * down, (left + size) * across, (top + size) * down}};
}

ImageCut randomCut(const RandomCut& how, int height, int width, std::uint64_t seed, std::int64_t epoch,
                   std::int64_t sampleId) {
    const CounterRng rng{seed, streamOf("random cut"), static_cast<std::uint64_t>(epoch),
                         static_cast<std::uint64_t>(sampleId)};
    ImageCut cut{.box = largestWithin(how, height, width), .isApart = true};
    const double area = static_cast<double>(height) * width;
    for (std::uint32_t at = 0; at < 40; at += 4) {
        const double part = area * (how.least + (how.most - how.least) * rng.uniform(at));
        const double sides = how.narrowest * std::pow(how.widest / how.narrowest, rng.uniform(at + 1));
        const auto wide = static_cast<int>(std::lround(std::sqrt(part * sides)));
        const auto high = static_cast<int>(std::lround(std::sqrt(part / sides)));
        if (wide < 1 || high < 1 || wide > width || high > height) continue;
        const auto place = [&](int room, std::uint32_t element) {
            return static_cast<double>(rng.below(static_cast<std::uint64_t>(room) + 1, element));
        };
        const double top = place(height - high, at + 2), left = place(width - wide, at + 3);
        cut.box = {left, top, left + wide, top + high};
        break;
    }
    return cut;
}

}  // namespace lockstep
