#include <set>
#include <string>

#include "engine/core/error.h"
#include "engine/core/result.h"
#include "engine/graph/graph.h"

namespace lockstep {

namespace {

[[noreturn]] void broken(const std::string& where, const std::string& rule) {
    throw EngineError(EngineError::Kind::Internal, where, "illegal graph: " + rule + " (" + where + ")");
}

std::string nameOf(const Node& node) { return std::string(node.op->name) + " " + node.scope; }

void verifyExists(const Graph& graph, ValueId id, const std::string& where) {
    if (index(id) >= graph.values().size()) broken(where, "a value exists before it is used");
}

void verifyInputs(const Graph& graph, NodeId id) {
    const Node& node = graph.node(id);
    for (const ValueId input : node.inputs) {
        verifyExists(graph, input, nameOf(node));
        const auto producer = graph.value(input).producer;
        if (producer && index(*producer) >= index(id)) broken(nameOf(node), "inputs come before their node");
    }
}

void verifyTypes(const Graph& graph, const Node& node) {
    if (!node.op->infer || !node.algorithm.empty()) return;
    std::vector<TensorType> inputs, outputs;
    for (const ValueId id : node.inputs) inputs.push_back(graph.typeOf(id));
    for (const ValueId id : node.outputs) outputs.push_back(graph.typeOf(id));
    std::vector<TensorType> expected;
    try {
        expected = node.op->infer(inputs, node.attrs);
    } catch (const ProblemError& error) {
        broken(nameOf(node), "inputs fit the op's rule: " + error.problem().code);
    }
    if (expected != outputs) broken(nameOf(node), "outputs have the types of the op's rule");
}

void verifyView(const Graph& graph, const Node& node) {
    if (!node.op->isView) return;
    if (node.inputs.empty() || node.outputs.size() != 1) broken(nameOf(node), "a view has an input and one output");
    const TensorType& from = graph.typeOf(node.inputs[0]);
    const TensorType& to = graph.typeOf(node.outputs[0]);
    if (from.shape.count() != to.shape.count() || from.dtype != to.dtype) {
        broken(nameOf(node), "a view has its input's element count and type");
    }
}

void verifyNodes(const Graph& graph) {
    std::set<std::pair<const OpDef*, std::string>> scopes;
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        verifyInputs(graph, static_cast<NodeId>(i));
        verifyTypes(graph, node);
        verifyView(graph, node);
        if (!scopes.emplace(node.op, node.scope).second) broken(nameOf(node), "scopes are unique per op");
    }
}

void verifyProducers(const Graph& graph) {
    std::vector<int> producers(graph.values().size());
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        for (const ValueId id : graph.nodes()[i].outputs) {
            ++producers[index(id)];
            if (graph.value(id).producer != static_cast<NodeId>(i)) {
                broken(nameOf(graph.nodes()[i]), "outputs know their producer");
            }
        }
    }
    for (std::size_t i = 0; i < producers.size(); ++i) {
        const int expected = graph.values()[i].role == ValueRole::Intermediate ? 1 : 0;
        if (producers[i] != expected) broken(graph.values()[i].name, "intermediates have one producer, others none");
    }
}

void verifyNames(const Graph& graph) {
    std::set<std::string_view> names;
    for (const Value& value : graph.values()) {
        if (value.role != ValueRole::Intermediate && !names.insert(value.name).second) {
            broken(value.name, "inputs, parameters and buffers have unique names");
        }
    }
    std::set<std::string_view> outputs;
    for (const Graph::Output& output : graph.outputs()) {
        verifyExists(graph, output.value, output.name);
        if (!outputs.insert(output.name).second) broken(output.name, "outputs have unique names");
    }
}

void verifyAssignments(const Graph& graph) {
    std::set<ValueId> assigned;
    for (const Graph::Assignment& assignment : graph.assignments()) {
        verifyExists(graph, assignment.buffer, "an assignment");
        const Value& buffer = graph.value(assignment.buffer);
        verifyExists(graph, assignment.value, buffer.name);
        if (buffer.role != ValueRole::Buffer) broken(buffer.name, "assignments go to buffers");
        if (!assigned.insert(assignment.buffer).second) broken(buffer.name, "a buffer is assigned once");
        if (graph.typeOf(assignment.value) != buffer.type) broken(buffer.name, "a buffer is assigned its own type");
    }
}

bool sameLayout(const Value& a, const Value& b) {
    if (!a.layout || !b.layout) return a.layout == b.layout;
    return a.layout->bytes() == b.layout->bytes() && a.layout->text() == b.layout->text();
}

void verifyGradients(const Graph& graph) {
    std::set<ValueId> used;
    for (std::size_t i = 0; i < graph.values().size(); ++i) {
        const auto gradient = graph.gradientOf(static_cast<ValueId>(i));
        if (!gradient) continue;
        const Value& parameter = graph.values()[i];
        verifyExists(graph, *gradient, parameter.name);
        const Value& value = graph.value(*gradient);
        if (parameter.role != ValueRole::Parameter) broken(parameter.name, "only parameters have recorded gradients");
        if (value.type != parameter.type) broken(parameter.name, "a gradient has its parameter's type");
        if (!sameLayout(value, parameter)) broken(parameter.name, "a gradient has its parameter's layout");
        if (!used.insert(*gradient).second) broken(parameter.name, "a gradient serves one parameter");
    }
}

}  // namespace

void verify(const Graph& graph) {
    verifyNodes(graph);
    verifyProducers(graph);
    verifyNames(graph);
    verifyAssignments(graph);
    verifyGradients(graph);
}

}  // namespace lockstep
