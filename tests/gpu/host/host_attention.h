#pragma once
#include <memory>

#include "engine/backend/cuda/fused_attention.h"

namespace lockstep::cuda {

// Attention by its definition, in double.
std::unique_ptr<FusedAttention> makeHostAttention(const AttentionShape& shape, const std::string& where);

}  // namespace lockstep::cuda
