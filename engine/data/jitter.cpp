#include "engine/data/jitter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "engine/core/random.h"
#include "engine/data/each_processor.h"

namespace lockstep {

namespace {

using Step = ColourJitter::Step;

LOCKSTEP_EACH_PROCESSOR
void scaleLevels(std::uint8_t* levels, std::size_t count, std::int32_t factor, std::int32_t added) {
    for (std::size_t i = 0; i < count; ++i)
        levels[i] = static_cast<std::uint8_t>(scaledLevel(levels[i], factor, added));
}

// Three planes of an image in colour.
struct Planes {
    std::uint8_t* __restrict red;
    std::uint8_t* __restrict green;
    std::uint8_t* __restrict blue;
    std::size_t count;

    Colour at(std::size_t i) const { return {red[i], green[i], blue[i]}; }
    void put(std::size_t i, Colour c) const {
        red[i] = static_cast<std::uint8_t>(c.red);
        green[i] = static_cast<std::uint8_t>(c.green);
        blue[i] = static_cast<std::uint8_t>(c.blue);
    }
};

LOCKSTEP_EACH_PROCESSOR
void saturate(Planes planes, std::int32_t factor) {
    for (std::size_t i = 0; i < planes.count; ++i) planes.put(i, saturated(planes.at(i), factor));
}

LOCKSTEP_EACH_PROCESSOR
void turn(Planes planes, std::int32_t hue) {
    for (std::size_t i = 0; i < planes.count; ++i) planes.put(i, turned(planes.at(i), hue));
}

LOCKSTEP_EACH_PROCESSOR
std::int64_t sumOfGreys(const std::uint8_t* red, const std::uint8_t* green, const std::uint8_t* blue,
                        std::size_t count) {
    constexpr std::size_t kBlock = 1024;  // whose sum 32 bits hold
    std::int64_t sum = 0;
    for (std::size_t begin = 0; begin < count; begin += kBlock) {
        std::int32_t part = 0;
        for (std::size_t i = begin; i < std::min(begin + kBlock, count); ++i)
            part += greyOf({red[i], green[i], blue[i]});
        sum += part;
    }
    return sum;
}

// What contrast adds. In 64 bits: the greys of a million pixels times the factor.
std::int32_t meanGreyOf(std::span<const std::uint8_t> image, int channels, std::int32_t factor) {
    std::int64_t sum = 0;
    std::size_t count = image.size();
    if (channels == 3) {
        count /= 3;
        sum = sumOfGreys(&image[0], &image[count], &image[2 * count], count);
    } else {
        for (const std::uint8_t level : image) sum += level;
    }
    return static_cast<std::int32_t>(sum * (kJitterOne - factor) / static_cast<std::int64_t>(count));
}

void follow(const ColourJitter& jitter, Step step, int channels, std::span<std::uint8_t> image) {
    if (step == Step::kBrightness) return scaleLevels(image.data(), image.size(), jitter.brightness, 0);
    if (step == Step::kContrast) return scaleLevels(image.data(), image.size(), jitter.contrast, jitter.meanGrey);
    if (channels != 3) return;
    const std::size_t plane = image.size() / 3;
    const Planes planes{&image[0], &image[plane], &image[2 * plane], plane};
    if (step == Step::kSaturation) saturate(planes, jitter.saturation);
    if (step == Step::kHue) turn(planes, jitter.hue);
}

int placeOf(const ColourJitter& jitter, Step step) {
    int place = 0;
    while (place < kJitterSteps && jitter.at(place) != step) ++place;
    return place;
}

// Any order of the four, of which those stay that do something.
std::int32_t chooseSteps(const std::array<bool, kJitterSteps>& isOn, const CounterRng& rng) {
    std::array order{Step::kBrightness, Step::kContrast, Step::kSaturation, Step::kHue};
    for (std::uint32_t left = kJitterSteps; left > 1; --left)
        std::swap(order[left - 1], order[rng.below(left, 8 + left)]);
    std::int32_t steps = 0, place = 0;
    for (const Step step : order)
        if (isOn[static_cast<std::size_t>(step - 1)]) steps |= step << (4 * place++);
    return steps;
}

std::int32_t chooseFactor(double most, double chosen) {
    const double low = std::max(1 - most, 0.0);
    return static_cast<std::int32_t>(std::lround(kJitterOne * (low + (1 + most - low) * chosen)));
}

}  // namespace

ColourJitter jitterOf(const JitterRanges& how, int channels, std::uint64_t seed, std::int64_t epoch,
                      std::int64_t sampleId) {
    if (!how.isOn()) return {};
    const CounterRng rng(seed, streamOf("jitter"), static_cast<std::uint64_t>(epoch),
                         static_cast<std::uint64_t>(sampleId));
    const bool hasColours = channels == 3;
    ColourJitter jitter;
    jitter.steps = chooseSteps(
        {how.brightness > 0, how.contrast > 0, how.saturation > 0 && hasColours, how.hue > 0 && hasColours}, rng);
    jitter.brightness = chooseFactor(how.brightness, rng.uniform(0));
    jitter.contrast = chooseFactor(how.contrast, rng.uniform(1));
    jitter.saturation = chooseFactor(how.saturation, rng.uniform(2));
    jitter.hue = static_cast<std::int32_t>(std::lround(6 * kJitterOne * how.hue * (2 * rng.uniform(3) - 1)));
    return jitter;
}

void jitterImage(ColourJitter& jitter, int channels, std::span<std::uint8_t> image) {
    for (int place = 0; place < kJitterSteps; ++place) {
        const Step step = jitter.at(place);
        if (step == Step::kContrast) jitter.meanGrey = meanGreyOf(image, channels, jitter.contrast);
        follow(jitter, step, channels, image);
    }
}

void settle(ColourJitter& jitter, int channels, std::span<const std::uint8_t> image, std::span<std::uint8_t> scratch) {
    const int contrast = placeOf(jitter, Step::kContrast);
    if (contrast == kJitterSteps) return;
    if (contrast > 0) {
        if (scratch.data() != image.data()) std::ranges::copy(image, scratch.begin());
        for (int place = 0; place < contrast; ++place) follow(jitter, jitter.at(place), channels, scratch);
        image = scratch;
    }
    jitter.meanGrey = meanGreyOf(image, channels, jitter.contrast);
}

}  // namespace lockstep
