#pragma once
#include "engine/backend/cuda/convolution.h"
#include "engine/backend/cuda/kernels.h"

namespace lockstep::cuda {

// One pass of the node's convolution, of these images and filters; bias and what follows it are for the caller to say.
ConvolutionShape convolutionShape(const Order& order, ConvolutionShape::Pass pass, const Value& x, const Value& w,
                                  const Value& y);

// The library's; where it has no plan for what follows the convolution, a pass over memory does that; where it has none
// at all, own loops by the definition do everything. Norms around it are for the library alone: see
// norm_convolution.cu.
std::unique_ptr<Convolution> makeConvolution(const Order& order, const ConvolutionShape& shape);

}  // namespace lockstep::cuda
