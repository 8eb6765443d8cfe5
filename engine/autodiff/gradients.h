#pragma once
#include <vector>

#include "engine/graph/graph.h"

namespace lockstep {

// Appends the backward pass of `graph` for the scalar output `loss` ("loss_sum": gradients are of the SUM over the
// local batch, divided once by the true global weight in the update) and records every parameter's gradient in the
// graph (Graph::gradientOf). Walks the nodes backwards, calls each op's rule, and adds where uses meet. A parameter
// that the loss does not reach gets a problem "graph.unused-parameter" (ProblemError). Where no trained parameter lies
// below, nothing is appended: neither for frozen parameters nor for what leads to them alone. Backward nodes get their
// forward node's scope. Gives the forward node that each appended one differentiates, from the last to the first.
std::vector<NodeId> appendGradients(Graph& graph, ValueId loss);

// By value: it depends on a trained parameter through ops that have a gradient. Nobody needs the gradient of any other.
std::vector<bool> dependsOnParameter(const Graph& graph);

}  // namespace lockstep
