#pragma once
#include <map>
#include <string>

#include "engine/backend/backend.h"

namespace lockstep::test {

using Tensors = std::map<std::string, HostTensor>;

struct RunOptions {
    int threads = 1;
    StepScalars scalars;
    bool inplace = false;  // where an op allows it, its output takes over its input's memory
    Precision precision = Precision::Fp32;
};

struct RunResult {
    Tensors outputs;    // by the graph's output names
    Tensors gradients;  // by parameter name
    Tensors buffers;    // what the assignments left, by buffer name
    Graph lowered;
};

// Lowers `graph` with the backend and runs it once, node by node, without a planner: every value has memory of its own,
// poisoned before and guarded behind, so a kernel that accumulates into what it finds, or writes too far, is found out
// (std::runtime_error). `given` has a tensor for every input, parameter and buffer; it is converted to the value's
// type.
RunResult runGraph(const Backend& backend, const Graph& graph, const Tensors& given, const RunOptions& options = {});

HostTensor converted(const HostTensor& tensor, DType to);
HostTensor tensorOf(Shape shape, std::span<const double> values);  // F64

double largestMagnitude(const HostTensor& tensor);  // of its finite elements

// The largest |a - b| over the largest |b| (or over `floor`, or over 1, where b is smaller than `floor`, or zero
// throughout); infinite when shapes differ or one side alone is not finite. Elements that are equal, also as infinities
// or NaN, differ by nothing.
double relativeError(const HostTensor& a, const HostTensor& b, double floor = 0);

}  // namespace lockstep::test
