#pragma once
#include "engine/backend/cuda/cudnn_plan.h"
#include "engine/backend/cuda/fused_attention.h"

namespace lockstep::cuda {

// The operations in which the library knows attention (scaled dot-product attention in the graph API's documentation):
// backward without sums that depend on the order in which blocks arrive. Forward on queries, keys, values, y and
// logSumExp, in this order; backward on queries, keys, values, y, logSumExp, dy, a f32 for each row of scores, and the
// gradients of queries, keys and values.
CudnnGraph attentionGraph(const AttentionShape& shape);
// Null where the library has no plan: see makeCudnnPlan; of f32 it has none.
std::unique_ptr<FusedAttention> makeCudnnAttention(const CudnnPlans& plans, const AttentionShape& shape,
                                                   const std::string& where);

}  // namespace lockstep::cuda
