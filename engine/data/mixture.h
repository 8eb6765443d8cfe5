#pragma once
#include <cstdint>
#include <span>

#include "engine/data/augment.h"

namespace lockstep {

// A training sample made of two, itself and its partner, any of `count` samples; both augmented as they would be alone.
// Mixup (Zhang et al., arXiv 1710.09412) is lambda times the sample plus (1 - lambda) times its partner. CutMix (Yun et
// al., arXiv 1905.04899) pastes a box of the one on the other, its sides sqrt(1 - lambda) of the image's and its centre
// anywhere; what lies beyond the edges is clipped, and lambda then is the sample's share of the pixels. Labels are
// weighted by lambda, which follows Beta(alpha, alpha). With both, either is as likely, for each sample by itself.
// Of two equally likely mixtures it is the one in which the sample itself weighs more, so lambda is at least 1/2 and
// the sample's label the one that counts in the accuracy: a box of more than half of the image is the sample's, on its
// partner.
struct Mixture {
    std::int64_t partner = 0;
    float lambda = 1;
    ImageRecipe::Box box{};  // of CutMix; empty: all pixels are mixed
    bool isOwn = false;      // the box is the sample's, on its partner, not the other way round
};
// Depends on the shape and (seed, epoch, sample id) alone. Pure.
Mixture mixtureOf(const Augmentation& how, const ImageShape& shape, std::int64_t count, std::uint64_t seed,
                  std::int64_t epoch, std::int64_t sampleId);

// Mixes the partner's image, f32 planar, into the sample's.
void mix(const Mixture& mixture, const ImageShape& shape, std::span<const float> partner, std::span<float> image);

}  // namespace lockstep
