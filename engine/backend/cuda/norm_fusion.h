#pragma once
#include "engine/graph/graph.h"

namespace lockstep::cuda {

// Of a fused graph: convolutions with channels in eights and no groups also sum up what the batch norm behind them
// needs; where one norm and ReLU stand between two of them, the second applies both as it reads, forward and for its
// weights' gradient, so that what the ReLU makes is never written; and the gradient of its data is masked and summed up
// for the norm as it is made. Worth it where cuDNN has engines for that: in f16, from Ampere to Hopper; in bf16 it has
// none. NVIDIA cuDNN, graph API, supported graph patterns: ConvBNfprop, ConvBNwgrad, DgradDreluBNBwdWeight.
Graph fuseNormsWithConvolutions(const Graph& graph);

}  // namespace lockstep::cuda
