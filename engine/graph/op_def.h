#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/graph/attrs.h"

namespace lockstep {

class GradientContext;

// One operation of the mathematics: its name, its shape rule and its gradient rule. Definitions are constants with
// static lifetime; a node refers to its OpDef by address. Backends add definitions of their own for fused nodes (no
// gradient).
struct OpDef {
    std::string_view name;  // "conv2d"; stable: used by dumps, kernel lists and tests

    // The types of all outputs. Throws ProblemError (code "graph.…") when inputs do not fit.
    std::vector<TensorType> (*infer)(std::span<const TensorType> inputs, const Attrs& attrs);

    // Appends the backward nodes. Null: no gradient flows through this op.
    void (*gradient)(GradientContext& context) = nullptr;

    // Output 0 may take over this input's memory, where the node has so many, when nobody reads that input later; -1:
    // never.
    int inplaceInput = -1;

    // Output 0 is input 0 seen with another shape: no kernel, no memory.
    bool isView = false;

    // Output 0 follows place by place from inputs of its own type: any shape and layout will do that all of them have.
    bool isElementwise = false;

    // Multiplications and additions of one call, of what is mostly these: convolutions and products of matrices. Null:
    // next to none.
    double (*flops)(std::span<const TensorType> inputs, std::span<const TensorType> outputs) = nullptr;
};

}  // namespace lockstep
