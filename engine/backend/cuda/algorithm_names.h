#pragma once
#include <string>

#include "engine/graph/graph.h"

// What the algorithm of a lowered node says, in words: "", "tf32", "by rule", "tf32 by rule".
namespace lockstep::cuda {

// tf32: operands in f32 are read rounded to tf32. By rule: cuDNN's first plan is taken, not the one found by timing.
inline std::string algorithmName(bool tf32, bool byRule) {
    if (!byRule) return tf32 ? "tf32" : "";
    return tf32 ? "tf32 by rule" : "by rule";
}
inline bool readsTf32(const Node& node) { return node.algorithm.starts_with("tf32"); }
inline bool isByRule(const Node& node) { return node.algorithm.ends_with("by rule"); }

}  // namespace lockstep::cuda
