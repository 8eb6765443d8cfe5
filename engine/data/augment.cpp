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
        {"cutmix",
         0.0,
         0,
         16,
         {},
         "",
         "Pastes a box of another image on each one, and mixes their labels by area; 1 takes all areas alike, 0 pastes "
         "nothing. With mixup, a coin chooses."},
        {"random_resized_crop",
         0.0,
         0,
         1,
         {},
         "",
         "Shows a random part of each picture, of this share of its area or more, scaled to the image's size: 0.08 is "
         "usual for photographs, 0 shows all."},
        {"crop_aspect",
         1.3333,
         1,
         4,
         {},
         "",
         "How much wider than high, or higher than wide, that random part may be."},
        {"jitter_brightness",
         0.0,
         0,
         4,
         {},
         "",
         "Makes each image brighter or darker by up to this share; 0.4 is usual, 0 changes nothing."},
        {"jitter_contrast",
         0.0,
         0,
         4,
         {},
         "",
         "Raises or lowers the contrast of each image by up to this share; 0.4 is usual, 0 changes nothing."},
        {"jitter_saturation",
         0.0,
         0,
         4,
         {},
         "",
         "Makes the colours of each image stronger or paler by up to this share; 0.4 is usual, 0 changes nothing."},
        {"jitter_hue",
         0.0,
         0,
         0.5,
         {},
         "",
         "Turns the hues of each image by up to this share of the colour circle; 0.1 is usual, 0 changes nothing."},
    };
    return schema;
}

Augmentation augmentationFrom(const ParamValues& values) {
    Augmentation how{static_cast<int>(values.integer("crop_padding")), values.flag("flip"),
                     static_cast<int>(values.integer("cutout")), values.number("random_erasing"),
                     values.number("mixup")};
    const double least = values.number("random_resized_crop"), widest = values.number("crop_aspect");
    if (least > 0) how.cut = RandomCut{.least = least, .narrowest = 1 / widest, .widest = widest};
    how.cutmix = values.number("cutmix");
    how.jitter = {values.number("jitter_brightness"), values.number("jitter_contrast"),
                  values.number("jitter_saturation"), values.number("jitter_hue")};
    return how;
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
    recipe.jitter = jitterOf(how.jitter, shape.channels, seed, epoch, sampleId);
    if (how.erasing > 0) recipe.erased = chooseErased(shape, how.erasing, rngOf("erase", seed, epoch, sampleId));
    return recipe;
}

std::span<const std::uint8_t> jitterColours(const Augmentation& how, const DatasetInfo& info,
                                            std::span<const std::uint8_t> image, std::uint64_t seed, std::int64_t epoch,
                                            std::int64_t sampleId, std::span<std::uint8_t> scratch) {
    if (!how.jitter.isOn()) return image;
    assert(scratch.size() == image.size());
    const int channels = info.image().channels;
    ColourJitter jitter = jitterOf(how.jitter, channels, seed, epoch, sampleId);
    if (scratch.data() != image.data()) std::ranges::copy(image, scratch.begin());
    jitterImage(jitter, channels, scratch);
    return scratch;
}

void augment(const Augmentation& how, const DatasetInfo& info, std::span<const std::uint8_t> image, std::uint64_t seed,
             std::int64_t epoch, std::int64_t sampleId, std::span<float> out) {
    const ImageShape shape = info.image();
    const std::size_t plane = static_cast<std::size_t>(shape.height) * static_cast<std::size_t>(shape.width);
    const auto channels = static_cast<std::size_t>(shape.channels);
    assert(image.size() == channels * plane && out.size() == image.size());
    assert(info.mean.size() == channels && info.deviation.size() == channels);

    if (how == Augmentation{.mixup = how.mixup, .cut = how.cut, .cutmix = how.cutmix, .jitter = how.jitter}) {
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

}  // namespace lockstep
