#pragma once
#include <optional>
#include <string>

#include "engine/graph/graph_builder.h"

namespace lockstep {

// Scaled dot-product attention of every head over packed queries, keys and values (Vaswani et al., arXiv 1706.03762):
//   qkv: N,T,3C, in each token the queries of all heads, then their keys, then their values; a head has d = C / heads.
//   y: N,T,C = softmax(q kᵀ / sqrt d) v, heads side by side; causal: a token sees itself and those before it.
//   lengths: N, i32, 1 to T each: no token sees those from a sample's length on, which pad it. Without: all count.
// As in FlashAttention (Dao et al., arXiv 2205.14135, algorithms 2 and 4) the probabilities are never kept: logSumExp
// (N,heads,T, at least f32) of each row of scores is all that backward needs to make them again, so that memory grows
// with T alone.
extern const OpDef kAttention;          // (qkv[, lengths]) -> y, logSumExp            AttentionAttrs
extern const OpDef kAttentionBackward;  // (qkv, y, logSumExp, dy[, lengths]) -> dqkv  AttentionAttrs

struct AttentionAttrs {
    int heads = 1;
    bool causal = false;
    bool operator==(const AttentionAttrs&) const = default;
};
std::string describe(const AttentionAttrs& attrs);

ValueId attention(GraphBuilder& b, ValueId qkv, std::optional<ValueId> lengths, const AttentionAttrs& attrs,
                  const std::string& name);

}  // namespace lockstep
