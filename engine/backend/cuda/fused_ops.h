#pragma once
#include <string>

#include "engine/graph/graph.h"
#include "engine/ops/batch_norm.h"

// Ops of the CUDA backend alone: definitions without shape or gradient rules.
namespace lockstep::cuda {

extern const OpDef kReorder;  // (x) -> x in the other of its two layouts

// Batch norms whose passes over memory are done by the convolutions around them: see norm_fusion.h. Sums are f32[2, C]
// over samples and pixels; factors are of x's type, [2, C]: ReLU(factors[0] x + factors[1]) is what the norm and the
// ReLU behind it make of x.
struct NormOfSumsAttrs {
    BatchNormAttrs norm;
    std::int64_t count = 0;  // of the values in a channel
    bool operator==(const NormOfSumsAttrs&) const = default;
};
std::string describe(const NormOfSumsAttrs& attrs);

extern const OpDef kConv2dSums;                 // (x, w) -> y, sums of y and of its squares           Conv2dAttrs
extern const OpDef kNormConv2dSums;             // (x, factors, w) -> the same, of ReLU(norm(x))       Conv2dAttrs
extern const OpDef kNormFactors;                // (sums, gamma, beta, runningMean, runningVariance)
                                                //   -> factors, mean, invStd, newMean, newVariance    NormOfSumsAttrs
extern const OpDef kNormTrainFromSums;          // as kNormTrain, with the sums of x [and of x2] behind its inputs
extern const OpDef kNormConv2dBackwardWeights;  // (x, factors, dy) -> dw                      Conv2dBackwardAttrs
extern const OpDef kConv2dBackwardDataNorm;     // (dy, w, x, gamma, beta, mean, invStd) -> g, sums of g x^ and of g:
                                                //   the gradient in front of the ReLU            Conv2dBackwardAttrs
extern const OpDef kNormBackwardFromSums;       // (g, x, gamma, mean, invStd, sums [, r]) -> dx [+ r], dgamma, dbeta

}  // namespace lockstep::cuda
