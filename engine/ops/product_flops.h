#pragma once
#include <span>

#include "engine/core/tensor.h"

namespace lockstep {

// OpDef::flops of convolutions and products of matrices, also of what lowering makes of them where their operands stay
// first. The types are those of the node's inputs and outputs.
double conv2dFlops(std::span<const TensorType> in, std::span<const TensorType> out);                 // (x, w) -> y
double conv2dBackwardDataFlops(std::span<const TensorType> in, std::span<const TensorType> out);     // (dy, w) -> dx
double conv2dBackwardWeightsFlops(std::span<const TensorType> in, std::span<const TensorType> out);  // (x, dy) -> dw
double denseFlops(std::span<const TensorType> in, std::span<const TensorType> out);                  // (x, w) -> y
double denseBackwardDataFlops(std::span<const TensorType> in, std::span<const TensorType> out);      // (dy, w) -> dx
double denseBackwardWeightsFlops(std::span<const TensorType> in, std::span<const TensorType> out);   // (x, dy) -> dw

}  // namespace lockstep
