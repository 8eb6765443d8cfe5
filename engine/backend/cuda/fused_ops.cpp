#include "engine/backend/cuda/fused_ops.h"

namespace lockstep::cuda {

constinit const OpDef kReorder{.name = "reorder", .infer = nullptr};

}  // namespace lockstep::cuda
