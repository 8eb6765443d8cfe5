#include <algorithm>
#include <cmath>

#include "datasets/entries.h"
#include "datasets/loading.h"
#include "datasets/memory_dataset.h"
#include "engine/core/random.h"
#include "engine/data/normalisation.h"

namespace lockstep {

namespace {

// A smooth random pattern per class and channel: a coarse grid of values in -1…1, blended linearly.
constexpr int kGrid = 4;

float blend(const float* grid, float y, float x) {
    const int y0 = std::min(static_cast<int>(y), kGrid - 2), x0 = std::min(static_cast<int>(x), kGrid - 2);
    const float dy = y - static_cast<float>(y0), dx = x - static_cast<float>(x0);
    const float* at = grid + y0 * kGrid + x0;
    return (at[0] * (1 - dx) + at[1] * dx) * (1 - dy) + (at[kGrid] * (1 - dx) + at[kGrid + 1] * dx) * dy;
}

std::vector<float> patternOf(int label, const ImageShape& shape, std::uint64_t seed) {
    const CounterRng rng(seed, streamOf("synthetic-pattern"), 0, static_cast<std::uint64_t>(label));
    const auto place = [](int i, int extent) {
        return static_cast<float>(i * (kGrid - 1)) / static_cast<float>(std::max(extent - 1, 1));
    };
    std::vector<float> pattern;
    pattern.reserve(imageBytes(shape));
    for (int c = 0; c < shape.channels; ++c) {
        float grid[kGrid * kGrid];
        for (int i = 0; i < kGrid * kGrid; ++i) {
            grid[i] = static_cast<float>(2 * rng.uniform(static_cast<std::uint32_t>(c * kGrid * kGrid + i)) - 1);
        }
        for (int y = 0; y < shape.height; ++y) {
            for (int x = 0; x < shape.width; ++x) {
                pattern.push_back(blend(grid, place(y, shape.height), place(x, shape.width)));
            }
        }
    }
    return pattern;
}

// Writes pattern + noise; the noise is the sum of two random bytes, scaled to a deviation of `noise`.
void draw(const std::vector<float>& pattern, double noise, std::uint64_t key, std::uint64_t sample, std::uint8_t* out) {
    constexpr float kDeviationOfTwoBytes = 104.51f;  // sqrt(2 (256^2 - 1) / 12)
    constexpr float kContrast = 60;
    const float scale = static_cast<float>(noise) * kContrast / kDeviationOfTwoBytes;
    const auto low = static_cast<std::uint32_t>(sample), high = static_cast<std::uint32_t>(sample >> 32);
    for (std::size_t i = 0; i < pattern.size();) {
        const auto words = philox({static_cast<std::uint32_t>(i / 8), low, high, 0},
                                  {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)});
        for (int k = 0; k < 8 && i < pattern.size(); ++k, ++i) {
            const std::uint32_t two = words[static_cast<std::size_t>(k / 2)] >> (k % 2 * 16);
            const auto sum = static_cast<float>((two & 255) + (two >> 8 & 255));
            const float pixel = 127.5f + kContrast * pattern[i] + scale * (sum - 255);
            out[i] = static_cast<std::uint8_t>(std::clamp(std::lround(pixel), 0l, 255l));
        }
    }
}

struct Samples {
    std::vector<std::uint8_t> pixels;
    std::vector<std::int32_t> labels;
};

Samples drawAll(const std::vector<std::vector<float>>& patterns, std::int64_t count, double noise, std::uint64_t key,
                Reading& reading, std::int64_t before) {
    const std::size_t bytes = patterns.front().size();
    Samples samples;
    samples.pixels.resize(static_cast<std::size_t>(count) * bytes);
    for (std::int64_t i = 0; i < count; ++i) {
        if (i % 64 == 0) reading.advance(before + i);
        const auto label = static_cast<std::size_t>(i) % patterns.size();
        draw(patterns[label], noise, key, static_cast<std::uint64_t>(i),
             &samples.pixels[static_cast<std::size_t>(i) * bytes]);
        samples.labels.push_back(static_cast<std::int32_t>(label));
    }
    return samples;
}

Loaded generate(const ParamValues& params, Reading& reading) {
    const auto extent = [&](const char* name) { return static_cast<int>(params.integer(name)); };
    const auto seed = static_cast<std::uint64_t>(params.integer("seed"));
    const std::int64_t trainCount = params.integer("samples"), testCount = params.integer("test_samples");
    DatasetInfo info;
    info.id = "synthetic";
    const ImageShape image{extent("channels"), extent("height"), extent("width")};
    info.fields = imageFields(image);
    info.classes = numbered(extent("classes"));
    requireMemory("dataset.samples", static_cast<std::uint64_t>(trainCount + testCount) * imageBytes(image));

    reading.describe(info);
    reading.expect(trainCount + testCount);
    std::vector<std::vector<float>> patterns;
    for (int label = 0; label < extent("classes"); ++label) patterns.push_back(patternOf(label, image, seed));
    const double noise = params.number("noise");
    const auto samplesOf = [&](const char* split, std::int64_t count, std::int64_t before) {
        return drawAll(patterns, count, noise, CounterRng(seed, streamOf(split), 0, 0).bits64(0), reading, before);
    };
    Samples train = samplesOf("synthetic-train", trainCount, 0);
    Samples test = samplesOf("synthetic-test", testCount, trainCount);
    measureNormalisation(info, train.pixels);
    return {std::make_shared<MemoryDataset>(info, std::move(train.pixels), std::move(train.labels)),
            std::make_shared<MemoryDataset>(info, std::move(test.pixels), std::move(test.labels)),
            {},
            {}};
}

}  // namespace

DatasetEntry syntheticEntry() {
    DatasetEntry entry;
    entry.id = "synthetic";
    entry.title = "Synthetic images";
    entry.meaning = "Random images that can be learnt: one smooth pattern per class under noise. Needs no files.";
    entry.needsPath = false;
    entry.params = {
        {"samples", std::int64_t{5000}, 2, 1e7, {}, "images", "Images to train on."},
        {"test_samples", std::int64_t{1000}, 1, 1e7, {}, "images", "Images to test on; never among those trained on."},
        {"classes", std::int64_t{10}, 2, 1000, {}, "", "Classes, each with a pattern of its own."},
        {"channels", std::int64_t{1}, 1, 16, {}, "", "Channels of an image: 1 grey, 3 colour."},
        {"height", std::int64_t{28}, 1, 1024, {}, "pixels", "Height of an image."},
        {"width", std::int64_t{28}, 1, 1024, {}, "pixels", "Width of an image."},
        {"noise", 0.5, 0, 20, {}, "", "Deviation of the noise, relative to the patterns: larger is harder to learn."},
        {"seed", std::int64_t{1}, 0, 1e15, {}, "", "Another seed, other patterns and noise."},
    };
    entry.recognise = [](const std::filesystem::path&) { return 0; };
    loadBy(entry, [](const std::filesystem::path&, const ParamValues& params, Reading& reading) {
        return generate(params, reading);
    });
    return entry;
}

}  // namespace lockstep
