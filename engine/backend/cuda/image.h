#pragma once
#include <array>

#include "engine/backend/cuda/card.h"
#include "engine/backend/cuda/layout.h"
#include "engine/graph/graph.h"

namespace lockstep::cuda {

// A batch of images N,C,H,W, or of filters K,C,R,S, as it lies in memory: row-major, or with its channels last. A
// tensor of rank 2 is one of 1 x 1 pixel.
struct Image {
    std::int64_t n = 1, c = 1, h = 1, w = 1;
    std::int64_t strideN = 1, strideC = 1, strideH = 1, strideW = 1;

    Image() = default;
    // With its channels last.
    explicit Image(const std::array<std::int64_t, 4>& extents)
        : n(extents[0]), c(extents[1]), h(extents[2]), w(extents[3]), strideN(c * h * w), strideH(w * c), strideW(c) {}
    explicit Image(const Value& value) {
        const Shape& shape = value.type.shape;
        n = shape[0];
        c = shape[1];
        if (shape.rank() == 4) {
            h = shape[2];
            w = shape[3];
        }
        const bool last = isChannelsLast(value);
        strideN = c * h * w;
        strideC = last ? 1 : h * w;
        strideW = last ? c : 1;
        strideH = w * strideW;
    }

    LOCKSTEP_CARD std::int64_t count() const { return n * c * h * w; }
    LOCKSTEP_CARD std::int64_t at(std::int64_t in, std::int64_t ic, std::int64_t ih, std::int64_t iw) const {
        return in * strideN + ic * strideC + ih * strideH + iw * strideW;
    }

    struct Place {
        std::int64_t n, c, h, w;
    };
    // Of element i as it lies in memory.
    LOCKSTEP_CARD Place placeOf(std::int64_t i) const {
        if (strideC == 1) return {i / strideN, i % c, i / strideH % h, i / c % w};
        return {i / strideN, i / strideC % c, i / w % h, i % w};
    }
    // Its number among the elements of its sample, row-major.
    LOCKSTEP_CARD std::int64_t logical(const Place& place) const { return (place.c * h + place.h) * w + place.w; }
};

}  // namespace lockstep::cuda
