#pragma once
#include "engine/ops/batch_norm.h"
#include "engine/ops/rules.h"

namespace lockstep {

// What the shape rules of batch norm share, local or synchronised.

// The type of gamma and beta, once x has been checked.
TensorType normChannels(std::string_view op, const TensorType& x);
// Of mean, variance and invStd.
TensorType normStatistics(const TensorType& channels);
// x, gamma, beta, runningMean, runningVariance, and the attributes.
void checkNorm(std::string_view op, std::span<const TensorType> in, const Attrs& attrs);

}  // namespace lockstep
