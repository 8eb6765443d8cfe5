#include "engine/backend/cuda/fused_attention.h"

namespace lockstep::cuda {

std::string describe(const AttentionShape& shape) {
    return std::string(shape.backward ? "attention-backward " : "attention ") + std::string(text(shape.dtype)) +
           " samples=" + std::to_string(shape.samples) + " tokens=" + std::to_string(shape.tokens) +
           " heads=" + std::to_string(shape.heads) + " width=" + std::to_string(shape.width) +
           (shape.causal ? " causal" : "");
}

}  // namespace lockstep::cuda
