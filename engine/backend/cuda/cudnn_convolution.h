#pragma once
#include "engine/backend/cuda/convolution.h"
#include "engine/backend/cuda/cudnn_plan.h"

namespace lockstep::cuda {

// On x, w and y, then on what the shape has besides: scales and shifts, bias, sums, and what belongs to a norm.
CudnnGraph convolutionGraph(const ConvolutionShape& shape);
// Null where the library has no plan: see makeCudnnPlan.
std::unique_ptr<Convolution> makeCudnnConvolution(const CudnnPlans& plans, const ConvolutionShape& shape,
                                                  const std::string& where);

}  // namespace lockstep::cuda
