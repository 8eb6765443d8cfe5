#pragma once
#include <span>

#include "engine/core/tensor.h"

namespace lockstep {

// OpDef::flops of products, for what lowering makes of them, too, as long as their operands come first.
double conv2dFlops(std::span<const TensorType> in, std::span<const TensorType> out);                 // (x, w) -> y
double conv2dBackwardDataFlops(std::span<const TensorType> in, std::span<const TensorType> out);     // (dy, w) -> dx
double conv2dBackwardWeightsFlops(std::span<const TensorType> in, std::span<const TensorType> out);  // (x, dy) -> dw
double denseFlops(std::span<const TensorType> in, std::span<const TensorType> out);                  // likewise
double denseBackwardDataFlops(std::span<const TensorType> in, std::span<const TensorType> out);
double denseBackwardWeightsFlops(std::span<const TensorType> in, std::span<const TensorType> out);

}  // namespace lockstep
