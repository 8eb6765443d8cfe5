#pragma once
#include <span>
#include <string_view>

#include "engine/graph/graph.h"

namespace lockstep {

// Less memory for more computing (Chen, Xu, Zhang & Guestrin, "Training Deep Nets with Sublinear Memory Cost", arXiv
// 1604.06174, section 4). The forward nodes of a training graph are divided into segments, where little is alive. What
// crosses from one segment to another is kept; the rest is forgotten, and made again by copies of its nodes right
// before the segment's backward nodes, which read the copies. A segment ends when it, with what is kept of those before
// it, would take more than a budget; of many budgets that one counts which keeps the least alive at once, as far as can
// be told before lowering.
//
// Nothing of the last segment runs again: its backward nodes follow at once. Nor does what no gradient flows through:
// frozen layers, sums over the batch of all ranks and their all-reduce, metrics. What is small beside what its node
// reads and writes is kept, such as statistics. Buffers are assigned by first runs alone. A copy has its node's op,
// attributes (and so, in dropout, the mask) and inputs, or copies of them: gradients keep their bits.
//
// `differentiated`: the forward node of each backward one, as appendGradients() gives them. The same graph where
// nothing would be gained.
Graph recomputed(const Graph& graph, std::span<const NodeId> differentiated);

// The scope of copies: of "block3/conv1" it is "recompute/block3/conv1".
constexpr std::string_view kRecomputeScope = "recompute";

}  // namespace lockstep
