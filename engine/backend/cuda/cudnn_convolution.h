#pragma once
#include "engine/backend/cuda/convolution.h"
#include "engine/backend/cuda/cudnn_objects.h"
#include "engine/backend/cuda/plan_cache.h"

namespace lockstep::cuda {

// The fastest of the library's plans for this pass: the one that the cache names, else timed on memory of its own,
// which takes milliseconds, and kept. Plans whose results differ from run to run are left out, and, for f32, those that
// round their operands. Null where the library has no plan.
std::unique_ptr<Convolution> makeCudnnConvolution(const Cudnn& library, PlanCache& cache, const ConvolutionShape& shape,
                                                  const std::string& where);

}  // namespace lockstep::cuda
