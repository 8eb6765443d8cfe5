#pragma once
#include "engine/backend/backend.h"

namespace lockstep::cuda {

// The CUDA backend's pass over the graph: fuses, lays images and filters out with their channels last, and puts
// reorders where something is wanted row-major. Products of matrices and convolutions of a Tf32 graph have the
// algorithm "tf32"; what cuDNN does is "by rule" unless its plans may be timed: see algorithm_names.h. With
// `normsInConvolutions` those around a norm do it: see norm_fusion.h. Throws EngineError(Device) naming an op without a
// kernel.
Graph lower(const Graph& graph, Precision precision, bool normsInConvolutions = false,
            AlgorithmChoice algorithms = AlgorithmChoice::Timed);

}  // namespace lockstep::cuda
