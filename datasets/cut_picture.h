#pragma once
#include <functional>
#include <span>

#include "datasets/image_codec.h"
#include "engine/data/image_cut.h"
#include "engine/data/resample.h"

namespace lockstep {

// How pictures become images, unless somebody wants another cut of them: the middle, of which `share` of the shorter
// side is seen.
struct ImageRule {
    int size = 0, channels = 3;  // channels: 1 or 3
    double share = 1;
    Interpolation interpolation = Interpolation::Bilinear;
    Decode decode = Decode::Fast;

    ImageCut middle(int height, int width) const { return middleCut(height, width, size, share); }
};

// Decodes what is wanted of a picture; throws ProblemError.
using DecodePart = std::function<void(const DecodeWish& wish, DecodedPart& into)>;

// The part of a picture that `cut` chooses, decoded and scaled by the rule, as planes into `out`. Keeps decoded pixels
// with its thread, for the next. Throws what `decode` throws.
void cutPicture(const DecodePart& decode, const ImageRule& rule, const ChooseCut& cut, std::span<std::uint8_t> out);

}  // namespace lockstep
