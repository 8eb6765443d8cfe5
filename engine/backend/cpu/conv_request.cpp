#include "engine/backend/cpu/conv_request.h"

#include <algorithm>

#include "engine/backend/cpu/simd/table.h"

namespace lockstep::cpu {

onednn::ConvRequest convRequest(onednn::Pass pass, const Conv2dAttrs& attrs, const Shape& x, const Shape& w,
                                const Shape& y) {
    onednn::ConvRequest request;
    request.pass = pass;
    request.stride = attrs.stride;
    request.padding = attrs.padding;
    request.dilation = attrs.dilation;
    for (int axis = 0; axis < 2; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        const std::int64_t window = attrs.dilation[a] * (w[2 + axis] - 1) + 1;
        const std::int64_t covered = (y[2 + axis] - 1) * attrs.stride[a] + window;
        request.paddingEnd[a] = static_cast<int>(covered - x[2 + axis] - attrs.padding[a]);
    }
    return request;
}

std::vector<std::int64_t> weightDims(const Conv2dAttrs& attrs, const Shape& w) {
    if (attrs.groups == 1) return {w[0], w[1], w[2], w[3]};
    return {attrs.groups, w[0] / attrs.groups, w[1], w[2], w[3]};
}

namespace {

constexpr std::int64_t kBlock = 16;

bool isBlocked(const Shape& w) { return w[0] % kBlock == 0 && w[1] % kBlock == 0; }

}  // namespace

bool isPixelwise(const Conv2dAttrs& attrs, const Shape& w) {
    constexpr std::array<int, 2> kOnes{1, 1}, kNone{0, 0};
    return attrs.groups == 1 && attrs.stride == kOnes && attrs.padding == kNone && w[2] == 1 && w[3] == 1;
}

bool suitsPointwise(const Conv2dAttrs& attrs, const Shape& w, const Shape& y) {
    constexpr std::int64_t kManyFilters = 256 * 256, kEnoughPixels = 32;
    return haveWideRegisters() && isPixelwise(attrs, w) && isBlocked(w) && w[0] * w[1] <= kManyFilters &&
           y[2] * y[3] >= kEnoughPixels;
}

bool isWinograds(const Conv2dAttrs& attrs, const Shape& w) {
    constexpr std::array<int, 2> kOnes{1, 1};
    return haveWideRegisters() && attrs.groups == 1 && attrs.stride == kOnes && attrs.dilation == kOnes && w[2] == 3 &&
           w[3] == 3 && std::max(attrs.padding[0], attrs.padding[1]) <= 2 && isBlocked(w);
}

bool suitsWinograd(const Conv2dAttrs& attrs, const Shape& w, const Shape& y) {
    constexpr std::array<int, 2> kOnes{1, 1};
    constexpr std::int64_t kEnoughTiles = 32, kEnoughPixels = 7;
    const std::int64_t tilesPerImage = ((y[2] + 3) / 4) * ((y[3] + 3) / 4);
    const bool isTwoByTwo = y[2] == 2 && y[3] == 2 && attrs.padding == kOnes;
    return isWinograds(attrs, w) && y[0] * tilesPerImage >= kEnoughTiles &&
           (isTwoByTwo || y[2] * y[3] >= kEnoughPixels * tilesPerImage);
}

namespace {

constexpr std::int64_t kPanelChannels = 32;

bool isInPanels(const Conv2dAttrs& attrs, const Shape& w) {
    return attrs.groups == 1 && w[0] % kPanelChannels == 0 && w[1] % kPanelChannels == 0;
}

bool areFewPixels(const Shape& x) { return x[2] * x[3] <= 8 * 8; }

}  // namespace

bool suitsSamples(const Conv2dAttrs& attrs, const Shape& x, const Shape& w) {
    return isInPanels(attrs, w) && w[2] * w[3] > 1 && areFewPixels(x) && x[0] % kPanelChannels == 0;
}

bool suitsGathered(const Conv2dAttrs& attrs, const Shape& w) {
    const bool hasStride = attrs.stride[0] * attrs.stride[1] > 1;
    return isInPanels(attrs, w) && (w[2] * w[3] == 1 || hasStride);
}

bool suitsPadded(const Conv2dAttrs& attrs, const Shape& x, const Shape& w) {
    const auto reaches = [&](std::size_t axis) {
        return attrs.padding[axis] <= attrs.dilation[axis] * (w[2 + axis] - 1) &&
               x[2 + axis] + 2 * attrs.padding[axis] > attrs.dilation[axis] * (w[2 + axis] - 1);
    };
    return isInPanels(attrs, w) && w[2] * w[3] > 1 && attrs.stride[0] * attrs.stride[1] == 1 && reaches(0) &&
           reaches(1);
}

bool suitsLanes(const Conv2dAttrs& attrs, const Shape& x, const Shape& w) {
    constexpr std::array<int, 2> kOnes{1, 1};
    constexpr std::int64_t kLanes = 16, kFirstLayer = 4;
    const bool isPlain = attrs.groups == 1 && attrs.stride == kOnes && attrs.dilation == kOnes &&
                         attrs.padding[0] < w[2] && attrs.padding[1] < w[3];
    // oneDNN is good at a first layer from one or three channels to whole blocks of them.
    const bool isFirst = x[1] <= kFirstLayer && w[0] % kLanes == 0;
    return isPlain && x[1] < kLanes && !isFirst;
}

}  // namespace lockstep::cpu
