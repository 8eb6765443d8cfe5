#pragma once
#include <functional>
#include <string>
#include <vector>

#include "engine/graph/op_def.h"
#include "tests/support/graph_runner.h"

namespace lockstep::test {

// What an op is given. Floats are held in F64 but are exact in F32, and take the backend's compute type; `fixedType`
// keeps the tensor's own type on every backend (ids, labels, the loss's gradient).
struct CaseInput {
    HostTensor tensor;
    ValueRole role = ValueRole::Input;
    bool fixedType = false;
    bool isStatistic = false;  // f32 on a backend that computes in less
};

// One op on given inputs: the list that every backend is tested with.
struct OpCase {
    std::string name{};  // "conv2d/stride-2": unique
    const OpDef* op = nullptr;
    std::function<Attrs(DType compute)> attrs = [](DType) { return Attrs(); };
    std::vector<CaseInput> inputs{};
    double tolerance = 1e-5;  // of an F32 backend, relative to the largest |expected| of each output
    bool smooth = true;       // no tie or kink in reach of a finite difference
    StepScalars scalars{};
    // Appends the op to the inputs, where there is more to do than that.
    using Append = std::vector<ValueId>(Graph& graph, const std::vector<ValueId>& inputs, const OpCase& opCase,
                                        DType compute);
    static Append appendOp;
    std::function<Append> append = appendOp;
};

const std::vector<OpCase>& opCases();
std::vector<const OpCase*> casesOf(const OpDef& op);

// The graph of the case's one node: values "in0", "in1"... and outputs "out0", "out1"...
Graph graphOf(const OpCase& opCase, DType compute);
Tensors tensorsOf(const OpCase& opCase);

// The case's outputs in order, floats as the backend computes them.
std::vector<HostTensor> runCase(const Backend& backend, const OpCase& opCase, const RunOptions& options = {});

// Small models that give a backend's lowering something to fuse and to lay out: forward, loss and gradients.
struct GraphCase {
    std::string name;
    std::function<Graph(DType compute)> build;  // outputs "loss_sum", "weight", "logits"; gradients recorded
    double tolerance = 1e-4;
};
const std::vector<GraphCase>& graphCases();
// Deterministic values for every input, parameter and buffer of a graph.
Tensors randomTensors(const Graph& graph, std::uint64_t seed);

}  // namespace lockstep::test
