#pragma once
#include <string>

#include "engine/ops/batch_norm.h"

namespace lockstep {

// Batch norm as in batch_norm.h, but over what all ranks take at once: over the whole batch or, where ranks accumulate
// a gradient in several passes, over the same pass of all of them. A rank may have no samples in it, or more than
// another: what is reduced are sums and the number of values they are over, so N ranks equal one. The gradient is that
// of the whole batch (Ioffe & Szegedy, arXiv 1502.03167, section 3): two sums of it are reduced as well. The gradients
// of gamma and beta stay the rank's own, as every parameter's are added up over the ranks later.
//
// Sums are in double and about the running mean, which is the same on all ranks: a channel far from zero keeps its
// variance. With C channels, of x and then of its square:
//   f64[2C + 1] = sum(x - runningMean), sum((x - runningMean)^2), the number of values in a channel
// and of the gradient, where x^ = (x - mean) invStd:
//   f64[2C + 1] = sum(dy), sum(dy x^), the number of values in a channel
extern const OpDef kBatchNormSums;              // (x, runningMean) -> sums
extern const OpDef kBatchNormTrainFromSums;     // (x, gamma, beta, runningMean, runningVariance, sums of all ranks)
                                                //   -> y, mean, invStd, newMean, newVariance        BatchNormAttrs
extern const OpDef kBatchNormBackwardSums;      // (x, mean, invStd, dy) -> sums, dgamma, dbeta
extern const OpDef kBatchNormBackwardFromSums;  // (x, gamma, mean, invStd, dy, sums of all ranks) -> dx

// In training the three steps, sums, all-reduce, norm; in evaluation and in a frozen layer as batchNorm().
ValueId synchronisedNorm(GraphBuilder& b, ValueId x, ValueId gamma, ValueId beta, ValueId runningMean,
                         ValueId runningVariance, const BatchNormAttrs& attrs, const std::string& name);

}  // namespace lockstep
