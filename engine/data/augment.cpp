#include "engine/data/augment.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "engine/core/random.h"

namespace lockstep {

namespace {

using Box = ImageRecipe::Box;

PixelScale scaleOf(const DatasetInfo& info, std::size_t channel) {
    return {info.mean[channel], info.deviation[channel]};
}

void normaliseRow(const std::uint8_t* __restrict in, std::size_t width, PixelScale scale, float* __restrict out) {
    for (std::size_t x = 0; x < width; ++x) out[x] = scale(in[x]);
}

void normaliseRowMirrored(const std::uint8_t* __restrict in, std::size_t width, PixelScale scale,
                          float* __restrict out) {
    for (std::size_t x = 0; x < width; ++x) out[x] = scale(in[width - 1 - x]);
}

CounterRng rngOf(const char* stream, std::uint64_t seed, std::int64_t epoch, std::int64_t sampleId) {
    return {seed, streamOf(stream), static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(sampleId)};
}

Box within(const ImageShape& shape, const Box& box) {
    return {std::max(box.top, 0), std::max(box.left, 0), std::min(box.bottom, shape.height),
            std::min(box.right, shape.width)};
}

Box chooseErased(const ImageShape& shape, double probability, const CounterRng& rng) {
    if (rng.uniform(0) >= probability) return {};
    const double area = static_cast<double>(shape.height) * shape.width;
    for (std::uint32_t at = 1; at <= 40; at += 4) {
        const double erased = area * (0.02 + 0.31 * rng.uniform(at));
        const double aspect = std::exp(std::log(0.3) + std::log(3.3 / 0.3) * rng.uniform(at + 1));
        const int height = static_cast<int>(std::lround(std::sqrt(erased * aspect)));
        const int width = static_cast<int>(std::lround(std::sqrt(erased / aspect)));
        if (height >= shape.height || width >= shape.width) continue;
        const auto place = [&](int room, double chosen) { return static_cast<int>(chosen * (room + 1)); };
        const int top = place(shape.height - height, rng.uniform(at + 2));
        const int left = place(shape.width - width, rng.uniform(at + 3));
        return {top, left, top + height, left + width};
    }
    return {};
}

// Marsaglia & Tsang, "A simple method for generating gamma variables", TOMS 2000. A normal number takes the bits of two
// elements, so each try has four to itself.
double gammaOf(double shape, const CounterRng& rng, std::uint32_t first) {
    if (shape < 1) return gammaOf(shape + 1, rng, first + 4) * std::pow(rng.uniform(first) + 0x1p-33, 1 / shape);
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (std::uint32_t at = first;; at += 4) {
        const double x = rng.normal(at / 2), v = std::pow(1 + c * x, 3);
        const double u = rng.uniform(at + 2) + 0x1p-33;
        if (v > 0 && std::log(u) < x * x / 2 + d - d * v + d * std::log(v)) return d * v;
    }
}

void writeRow(const std::uint8_t* in, int width, const ImageRecipe& recipe, PixelScale scale, float* out) {
    const int first = std::clamp(-recipe.dx, 0, width);            // output columns that come from the image,
    const int last = std::clamp(width - recipe.dx, first, width);  // before mirroring
    const auto length = static_cast<std::size_t>(last - first);
    if (length < static_cast<std::size_t>(width)) std::fill_n(out, width, scale(0));
    if (length == 0) return;
    const std::uint8_t* from = in + first + recipe.dx;
    if (recipe.mirrored != 0) {
        normaliseRowMirrored(from, length, scale, out + (width - last));
    } else {
        normaliseRow(from, length, scale, out + first);
    }
}

void writePlane(const std::uint8_t* in, const ImageShape& shape, const ImageRecipe& recipe, PixelScale scale,
                float* out) {
    for (int y = 0; y < shape.height; ++y, out += shape.width) {
        const int from = y + recipe.dy;
        if (from < 0 || from >= shape.height) {
            std::fill_n(out, shape.width, scale(0));
        } else {
            writeRow(in + static_cast<std::ptrdiff_t>(from) * shape.width, shape.width, recipe, scale, out);
        }
    }
}

void blank(const Box& box, const ImageShape& shape, float* out) {
    for (int y = box.top; y < box.bottom; ++y) {
        std::fill_n(out + static_cast<std::ptrdiff_t>(y) * shape.width + box.left, std::max(box.right - box.left, 0),
                    0.0f);
    }
}

}  // namespace

const ParamSchema& augmentationSchema() {
    static const ParamSchema schema{
        {"crop_padding",
         std::int64_t{0},
         0,
         64,
         {},
         "pixels",
         "Shifts each image by up to this many pixels in both directions; the border is filled with black."},
        {"flip", false, {}, {}, {}, "", "Mirrors each image left to right in every other epoch."},
        {"cutout",
         std::int64_t{0},
         0,
         1024,
         {},
         "pixels",
         "Side of a square blanked at a random place of each image; 0 blanks nothing."},
        {"random_erasing",
         0.0,
         0,
         1,
         {},
         "",
         "How likely a rectangle of an image is blanked, small or as large as a third of it."},
        {"mixup",
         0.0,
         0,
         16,
         {},
         "",
         "Mixes each image with another one, and their labels alike; 0.2 is mild, 1 takes all shares alike, 0 mixes "
         "nothing."},
    };
    return schema;
}

Augmentation augmentationFrom(const ParamValues& values) {
    return {static_cast<int>(values.integer("crop_padding")), values.flag("flip"),
            static_cast<int>(values.integer("cutout")), values.number("random_erasing"), values.number("mixup")};
}

ImageRecipe recipeOf(const Augmentation& how, const ImageShape& shape, std::uint64_t seed, std::int64_t epoch,
                     std::int64_t sampleId) {
    const CounterRng rng = rngOf("augment", seed, epoch, sampleId);
    ImageRecipe recipe;
    if (how.cropPadding > 0) {
        const auto places = static_cast<std::uint64_t>(2 * how.cropPadding + 1);
        recipe.dy = static_cast<int>(rng.below(places, 0)) - how.cropPadding;
        recipe.dx = static_cast<int>(rng.below(places, 1)) - how.cropPadding;
    }
    if (how.flip) {
        const std::uint32_t firstSide = rngOf("flip", seed, 0, sampleId).bits(0);
        recipe.mirrored = static_cast<int>((firstSide + epoch) & 1);
    }
    if (how.cutout > 0) {
        const int top = static_cast<int>(rng.below(static_cast<std::uint64_t>(shape.height), 6)) - how.cutout / 2;
        const int left = static_cast<int>(rng.below(static_cast<std::uint64_t>(shape.width), 7)) - how.cutout / 2;
        recipe.hole = within(shape, {top, left, top + how.cutout, left + how.cutout});
    }
    if (how.erasing > 0) recipe.erased = chooseErased(shape, how.erasing, rngOf("erase", seed, epoch, sampleId));
    return recipe;
}

void augment(const Augmentation& how, const DatasetInfo& info, std::span<const std::uint8_t> image, std::uint64_t seed,
             std::int64_t epoch, std::int64_t sampleId, std::span<float> out) {
    const ImageShape shape = info.image();
    const std::size_t plane = static_cast<std::size_t>(shape.height) * static_cast<std::size_t>(shape.width);
    const auto channels = static_cast<std::size_t>(shape.channels);
    assert(image.size() == channels * plane && out.size() == image.size());
    assert(info.mean.size() == channels && info.deviation.size() == channels);

    if (how == Augmentation{.mixup = how.mixup}) {
        for (std::size_t c = 0; c < channels; ++c) {
            normaliseRow(&image[c * plane], plane, scaleOf(info, c), &out[c * plane]);
        }
        return;
    }
    const ImageRecipe recipe = recipeOf(how, shape, seed, epoch, sampleId);
    for (std::size_t c = 0; c < channels; ++c) {
        float* target = &out[c * plane];
        writePlane(&image[c * plane], shape, recipe, scaleOf(info, c), target);
        for (const Box& box : {recipe.hole, recipe.erased}) blank(box, shape, target);
    }
}

Mixture mixtureOf(double alpha, std::int64_t count, std::uint64_t seed, std::int64_t epoch, std::int64_t sampleId) {
    const auto drawn = [&](const char* stream) { return rngOf(stream, seed, epoch, sampleId); };
    const auto partner = static_cast<std::int64_t>(drawn("mixup partner").below(static_cast<std::uint64_t>(count), 0));
    const double a = gammaOf(alpha, drawn("mixup"), 0), b = gammaOf(alpha, drawn("mixup other"), 0);
    const double larger = std::max(a, b);
    return {partner, larger > 0 ? static_cast<float>(larger / (a + b)) : 1.0f};
}

}  // namespace lockstep
