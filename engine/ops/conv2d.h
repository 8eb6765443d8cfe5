#pragma once
#include <array>
#include <string>

#include "engine/graph/graph_builder.h"

namespace lockstep {

// Cross-correlation as in deep learning's "convolution"; Dumoulin & Visin, arXiv 1603.07285.
// x: N,C,H,W; w: K, C/groups, R,S; bias: K; y: N,K,P,Q with P = (H + 2 pad - dilation (R-1) - 1) / stride + 1.
struct Conv2dAttrs {
    std::array<int, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};  // height, width
    int groups = 1;
    bool operator==(const Conv2dAttrs&) const = default;
};
std::string describe(const Conv2dAttrs& attrs);

// The gradient ops also need the shape that they produce.
struct Conv2dBackwardAttrs {
    Conv2dAttrs conv;
    Shape shape;  // of dx or of dw
    bool operator==(const Conv2dBackwardAttrs&) const = default;
};
std::string describe(const Conv2dBackwardAttrs& attrs);

extern const OpDef kConv2d;                 // (x, w[, bias]) -> y                 Conv2dAttrs
extern const OpDef kConv2dBackwardData;     // (dy, w) -> dx                       Conv2dBackwardAttrs
extern const OpDef kConv2dBackwardWeights;  // (x, dy) -> dw                       Conv2dBackwardAttrs
extern const OpDef kConv2dBackwardBias;     // (dy) -> dbias: sum over N, H, W

ValueId conv2d(GraphBuilder& b, ValueId x, ValueId w, std::optional<ValueId> bias, const Conv2dAttrs& attrs,
               const std::string& name);

}  // namespace lockstep
