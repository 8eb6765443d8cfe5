#pragma once
#include <optional>

#include "engine/core/shape.h"
#include "engine/ops/conv2d.h"

namespace lockstep::cpu {

// A convolution whose images have fewer channels than a tile has room for, as one whose images have enough: where
// channels lie last, pixels that follow each other in a row are one pixel of as many times the channels. All that
// changes is the filters, whose windows then reach over such pixels and are partly of zeros.
struct JoinedConv {
    std::int64_t pixelsOfX = 1, pixelsOfY = 1;  // that become one
    Conv2dAttrs attrs{};
    Shape x{}, w{}, y{};
};

// Into as few pixels as make all channels and filters whole panels of 32. None where that is so without, where pixels
// of a row do not divide into such, or what is read on the left of them is not read on the right.
std::optional<JoinedConv> joinedConv(const Conv2dAttrs& attrs, const Shape& x, const Shape& w, const Shape& y);

}  // namespace lockstep::cpu
