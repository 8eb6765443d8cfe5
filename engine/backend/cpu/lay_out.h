#pragma once
#include "engine/backend/backend.h"
#include "engine/backend/cpu/conv_choice.h"

namespace lockstep::cpu {

// All that is done with a graph, with the calling thread's number of OpenMP threads: neighbours are fused, norms folded
// into convolutions, and what is left is laid out.
Graph lowerGraph(const Graph& graph, const LowerOptions& options, const ConvChoice& choose, onednn::Bf16Units units);

// Gives every value of a fused graph its layout and every node its algorithm, with the calling thread's number of
// OpenMP threads. Activations of convolutions are in channel blocks from the first one to the head; what follows takes
// the layout it is given. Weights lie as the forward convolution wants them (or as the options say), gradients like
// their weights; where a node needs another layout, a reorder goes before it. Of products of bf16 matrices the library
// makes those of tiles.
Graph layOut(const Graph& graph, const LowerOptions& options, const ConvChoice& choose,
             onednn::Bf16Units units = onednn::bf16Units());

}  // namespace lockstep::cpu
