#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/param_schema.h"
#include "engine/data/dataset.h"
#include "engine/data/image_recipe.h"

namespace lockstep {

// What happens to an image between the dataset and the batch slot, in this order: random crop out of the image padded
// by `cropPadding` zeros on each side; horizontal flip in every other epoch, beginning with either (alternating flip,
// Jordan, arXiv 2404.00498: of two epochs, coins would show half of the images the same way round); normalisation (x /
// 255 - mean) / deviation; cutout (DeVries & Taylor, arXiv 1708.04552): a square of side `cutout`, its centre anywhere,
// set to zero after normalisation; with probability `erasing` the same for a rectangle within the image, of 2 to 33 %
// of its area and sides as 0.3 to 3.3 (Zhong et al., arXiv 1708.04896; the limits and the ten tries to find one are
// torchvision's). With `mixup` above 0 a training sample is a mixture of two that went through all this: see mixtureOf.
// Random choices depend on (seed, epoch, sample id) only.
struct Augmentation {
    int cropPadding = 0;
    bool flip = false;
    int cutout = 0;
    double erasing = 0;
    double mixup = 0;  // the parameter alpha of Beta(alpha, alpha); 0: off
    bool operator==(const Augmentation&) const = default;
};
const ParamSchema& augmentationSchema();
Augmentation augmentationFrom(const ParamValues& values);

// What is chosen for one image; its source is left at 0. Pure.
ImageRecipe recipeOf(const Augmentation& how, const ImageShape& shape, std::uint64_t seed, std::int64_t epoch,
                     std::int64_t sampleId);

// Writes the image as f32 planar into `out`, which has as many elements as `image` has bytes. Pure; one pass over the
// image.
void augment(const Augmentation& how, const DatasetInfo& info, std::span<const std::uint8_t> image, std::uint64_t seed,
             std::int64_t epoch, std::int64_t sampleId, std::span<float> out);

// Mixup (Zhang et al., arXiv 1710.09412): lambda times a sample plus (1 - lambda) times its partner, any of `count`
// samples; lambda follows Beta(alpha, alpha). Of two equally likely mixtures it is the one in which the sample itself
// weighs more, so lambda is at least 1/2 and the sample's label the one that counts in the accuracy. Pure.
struct Mixture {
    std::int64_t partner = 0;
    float lambda = 1;
};
Mixture mixtureOf(double alpha, std::int64_t count, std::uint64_t seed, std::int64_t epoch, std::int64_t sampleId);

}  // namespace lockstep
