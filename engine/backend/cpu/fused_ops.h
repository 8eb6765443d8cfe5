#pragma once
#include <string>

#include "engine/backend/fusion/fused_ops.h"
#include "engine/ops/conv2d.h"

// What the lowering makes of neighbours beyond fuse(): definitions of this backend alone.
namespace lockstep::cpu {

extern const OpDef kReorder;  // (x) -> the same tensor in another layout

// A convolution of ReLU of the batch norm of x, which is made anew wherever it is read; and with a tensor added to it.
struct FusedConvAttrs {
    Conv2dAttrs conv;
    bool norm = false, adds = false;
    bool operator==(const FusedConvAttrs&) const = default;
};
std::string describe(const FusedConvAttrs& attrs);
extern const OpDef kConv2dFused;                  // (x, w [, gamma, beta, mean, invStd] [, addend]) -> y
extern const OpDef kConv2dBackwardWeightsNormed;  // (x, dy, gamma, beta, mean, invStd) -> dw   Conv2dBackwardAttrs
extern const OpDef kNormStatistics;               // (x, gamma, beta, runningMean, runningVariance)
                                                  //   -> mean, invStd, newMean, newVariance    BatchNormAttrs

// A norm whose statistics stand becomes part of the convolution before it: a factor for each filter and a bias. Then
// comes the other branch of a residual block, then ReLU or ReLU6. Our own convolutions multiply their sums; the library
// is given filters that were multiplied.
enum class Clamp { None, Relu, Relu6 };
struct FoldedConvAttrs {
    Conv2dAttrs conv;
    bool adds = false;
    Clamp clamp = Clamp::None;
    bool operator==(const FoldedConvAttrs&) const = default;
};
std::string describe(const FoldedConvAttrs& attrs);
extern const OpDef kFoldNorm;      // (gamma, beta, mean, variance) -> scale, bias    BatchNormAttrs
extern const OpDef kConv2dFolded;  // (x, w, bias, scale [, r]) -> y
extern const OpDef kScaleFilters;  // (w, scale) -> w, each filter times its factor
extern const OpDef kConv2dScaled;  // (x, scaled w, bias [, r]) -> y                  FoldedConvAttrs

bool isForwardConv(const Node& node);
const Conv2dAttrs& convAttrs(const Node& node);  // of any forward convolution

}  // namespace lockstep::cpu
