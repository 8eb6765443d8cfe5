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
const Conv2dAttrs& convAttrs(const Node& node);   // of any forward convolution
extern const OpDef kConv2dBackwardWeightsNormed;  // (x, dy, gamma, beta, mean, invStd) -> dw   Conv2dBackwardAttrs
extern const OpDef kNormStatistics;               // (x, gamma, beta, runningMean, runningVariance)
                                                  //   -> mean, invStd, newMean, newVariance    BatchNormAttrs

}  // namespace lockstep::cpu
