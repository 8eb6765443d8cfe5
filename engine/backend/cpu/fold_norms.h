#pragma once
#include "engine/backend/cpu/conv_choice.h"
#include "engine/graph/graph.h"

namespace lockstep::cpu {

// Norms whose statistics stand, those of evaluation and of frozen layers, become part of the convolution before them:
// its filters times a factor each and a bias, instead of a pass over what it makes (Jacob et al., "Quantization and
// training of neural networks", CVPR 2018, 3.2). The other branch of a residual block and ReLU go with them. Comes
// after fuse(), before fuseConvolutions().
Graph foldNorms(const Graph& graph, const ConvChoice& choose);

}  // namespace lockstep::cpu
