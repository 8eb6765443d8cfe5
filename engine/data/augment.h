#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/param_schema.h"
#include "engine/data/dataset.h"
#include "engine/data/image_cut.h"
#include "engine/data/image_recipe.h"
#include "engine/data/jitter.h"

namespace lockstep {

// What happens to an image between the dataset and the batch slot, in this order: a random part of the picture, scaled
// to the image's size (`cut`, image_cut.h); other colours (`jitter`, jitter.h); random crop out of the image padded by
// `cropPadding` zeros on each side; horizontal flip in every other epoch, beginning with either (alternating flip,
// Jordan, arXiv 2404.00498: of two epochs, coins would show half of the images the same way round); normalisation (x /
// 255 - mean) / deviation; cutout (DeVries & Taylor, arXiv 1708.04552): a square of side `cutout`, its centre anywhere,
// set to zero after normalisation; with probability `erasing` the same for a rectangle within the image, of 2 to 33 %
// of its area and sides as 0.3 to 3.3 (Zhong et al., arXiv 1708.04896; the limits and the ten tries to find one are
// torchvision's). With `mixup` or `cutmix` above 0 a training sample is a mixture of two that went through all this:
// mixture.h. Random choices depend on (seed, epoch, sample id) only.
struct Augmentation {
    int cropPadding = 0;
    bool flip = false;
    int cutout = 0;
    double erasing = 0;
    double mixup = 0;  // the parameter alpha of Beta(alpha, alpha); 0: off
    std::optional<RandomCut> cut = {};
    double cutmix = 0;  // likewise
    JitterRanges jitter = {};
    bool mixes() const { return mixup > 0 || cutmix > 0; }
    bool operator==(const Augmentation&) const = default;
};
const ParamSchema& augmentationSchema();
Augmentation augmentationFrom(const ParamValues& values);

// What is chosen for one image; its source and its jitter's mean grey are left at 0. Pure.
ImageRecipe recipeOf(const Augmentation& how, const ImageShape& shape, std::uint64_t seed, std::int64_t epoch,
                     std::int64_t sampleId);

// The image, which has been cut, in other colours: in `scratch`, which has its size and may be the same memory, or the
// image itself where nothing is jittered.
std::span<const std::uint8_t> jitterColours(const Augmentation& how, const DatasetInfo& info,
                                            std::span<const std::uint8_t> image, std::uint64_t seed, std::int64_t epoch,
                                            std::int64_t sampleId, std::span<std::uint8_t> scratch);

// Writes the image, which has been cut and jittered, as f32 planar into `out`, which has as many elements as `image`
// has bytes. Pure; one pass over the image.
void augment(const Augmentation& how, const DatasetInfo& info, std::span<const std::uint8_t> image, std::uint64_t seed,
             std::int64_t epoch, std::int64_t sampleId, std::span<float> out);

}  // namespace lockstep
