#pragma once
#include <string>

#include "engine/graph/graph_builder.h"

namespace lockstep {

// Ioffe & Szegedy, arXiv 1502.03167, per channel over N, H, W (x is N,C,H,W or N,C).
// Training: y = gamma (x - mean) invStd + beta with the batch's own biased variance, invStd = 1 / sqrt(var + epsilon);
// newMean = (1 - momentum) runningMean + momentum mean, newVariance likewise with the unbiased variance (n / (n - 1);
// the biased one when n = 1), as PyTorch does. Statistics are f32 where x is f16 or bf16, else of x's type; gamma and
// beta are of x's type.
struct BatchNormAttrs {
    double epsilon = 1e-5;
    double momentum = 0.1;
    bool operator==(const BatchNormAttrs&) const = default;
};
std::string describe(const BatchNormAttrs& attrs);

extern const OpDef kBatchNormTrain;  // (x, gamma, beta, runningMean, runningVariance)
                                     //   -> y, mean, invStd, newMean, newVariance
extern const OpDef kBatchNormEval;   // (x, gamma, beta, runningMean, runningVariance) -> y   (gradient of x alone)
extern const OpDef kBatchNormEvalBackward;  // (dy, gamma, runningVariance)
                                            //   -> dx = dy gamma / sqrt(runningVariance + epsilon)
extern const OpDef kBatchNormBackward;      // (x, gamma, mean, invStd, dy) -> dx, dgamma, dbeta

// In training the running statistics are assigned; in evaluation, and in a frozen layer, they are read.
ValueId batchNorm(GraphBuilder& b, ValueId x, ValueId gamma, ValueId beta, ValueId runningMean, ValueId runningVariance,
                  const BatchNormAttrs& attrs, const std::string& name);

}  // namespace lockstep
