#pragma once
#include "engine/core/tensor.h"

namespace lockstep {

// Tensors of f16 and bf16 as f32, exactly; others as they are.
HostTensor widened(HostTensor tensor);

}  // namespace lockstep
