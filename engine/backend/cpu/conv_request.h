#pragma once
#include "engine/backend/cpu/onednn.h"
#include "engine/core/shape.h"
#include "engine/ops/conv2d.h"

namespace lockstep::cpu {

// The library's question for one pass of a convolution, without descriptors: x, w, y are the logical shapes.
onednn::ConvRequest convRequest(onednn::Pass pass, const Conv2dAttrs& attrs, const Shape& x, const Shape& w,
                                const Shape& y);

// The library's extents of the weights: with groups G, K/G, C/G, R, S.
std::vector<std::int64_t> weightDims(const Conv2dAttrs& attrs, const Shape& w);

// Winograd's algorithm (winograd.cpp), for 3x3 windows of stride 1 over whole blocks of 16 channels, which registers of
// eight floats hold at least. It is worth it where tiles of 4x4 pixels are filled well enough, or are 2x2 images with
// padding 1, and are enough to make up for transforming the weights.
bool isWinograds(const Conv2dAttrs& attrs, const Shape& w);  // whether it can make it, worth it or not
bool suitsWinograd(const Conv2dAttrs& attrs, const Shape& w, const Shape& y);

// The algorithm of a backward-data pass whose kernel packs the weights into the layout it wants.
inline constexpr const char* kPackedDirect = "direct+pack";

// Products over the channels of each pixel (pointwise.cpp), for 1x1 windows of stride 1 over whole blocks of 16
// channels, which registers of eight floats hold at least, and no more filters than stay in the second-level cache.
bool suitsPointwise(const Conv2dAttrs& attrs, const Shape& w, const Shape& y);

// Windows of one pixel, each of which is read once.
bool isPixelwise(const Conv2dAttrs& attrs, const Shape& w);

// Products whose rows are samples (sample_conv.cpp), of whole panels of 32 channels, filters and samples; for windows
// of several pixels over images of few.
bool suitsSamples(const Conv2dAttrs& attrs, const Shape& x, const Shape& w);

// Products whose rows are pixels that are gathered first (gathered_conv.cpp), of whole panels of 32 channels and
// filters; of windows of one pixel or with strides.
bool suitsGathered(const Conv2dAttrs& attrs, const Shape& w);

// The same of windows of several pixels without strides, which lie in a line with their padding (padded_conv.cpp).
bool suitsPadded(const Conv2dAttrs& attrs, const Shape& x, const Shape& w);

// Few channels leave most of a register empty when channels lie in it; then sixteen samples do.
bool suitsLanes(const Conv2dAttrs& attrs, const Shape& x, const Shape& w);

}  // namespace lockstep::cpu
