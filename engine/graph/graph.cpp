#include "engine/graph/graph.h"

#include <algorithm>

#include "engine/core/error.h"
#include "engine/core/result.h"

namespace lockstep {

namespace {

ValueId addValue(std::vector<Value>& values, Value value) {
    values.push_back(std::move(value));
    return static_cast<ValueId>(values.size() - 1);
}

std::vector<TensorType> inferTypes(const OpDef& op, std::span<const TensorType> inputs, const Attrs& attrs,
                                   const std::string& scope) {
    if (!op.infer) {
        throw EngineError(EngineError::Kind::Internal, std::string(op.name) + " " + scope, "the op has no shape rule");
    }
    try {
        return op.infer(inputs, attrs);
    } catch (const ProblemError& error) {
        Problem problem = error.problem();
        if (problem.field.empty()) problem.field = scope;
        throw ProblemError(std::move(problem));
    }
}

}  // namespace

ValueId Graph::addInput(std::string name, TensorType type) {
    return addValue(m_values, {.name = std::move(name), .type = type, .role = ValueRole::Input});
}

ValueId Graph::addParameter(std::string name, TensorType type, Initializer init, bool decays) {
    return addValue(
        m_values,
        {.name = std::move(name), .type = type, .role = ValueRole::Parameter, .init = init, .decays = decays});
}

ValueId Graph::addFrozen(std::string name, TensorType type, Initializer init) {
    return addValue(m_values, {.name = std::move(name), .type = type, .role = ValueRole::Frozen, .init = init});
}

ValueId Graph::addBuffer(std::string name, TensorType type, Initializer init) {
    return addValue(m_values, {.name = std::move(name), .type = type, .role = ValueRole::Buffer, .init = init});
}

std::vector<ValueId> Graph::append(const OpDef& op, std::vector<ValueId> inputs, Attrs attrs, std::string scope) {
    std::vector<TensorType> types;
    for (const ValueId id : inputs) types.push_back(typeOf(id));
    std::vector<Value> outputs;
    for (const TensorType& type : inferTypes(op, types, attrs, scope)) outputs.push_back({.type = type});
    return appendLowered({.op = &op, .inputs = std::move(inputs), .attrs = std::move(attrs), .scope = std::move(scope)},
                         std::move(outputs));
}

std::vector<ValueId> Graph::appendLowered(Node node, std::vector<Value> outputs) {
    const auto id = static_cast<NodeId>(m_nodes.size());
    const std::string name = node.scope + ":" + std::string(node.op->name);
    node.outputs.clear();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        Value& value = outputs[i];
        value.role = ValueRole::Intermediate;
        value.producer = id;
        if (value.name.empty()) value.name = outputs.size() == 1 ? name : name + ":" + std::to_string(i);
        node.outputs.push_back(addValue(m_values, std::move(value)));
    }
    m_nodes.push_back(std::move(node));
    return m_nodes.back().outputs;
}

void Graph::assign(ValueId buffer, ValueId value) { m_assignments.push_back({buffer, value}); }

void Graph::addOutput(std::string name, ValueId value) { m_outputs.push_back({std::move(name), value}); }

void Graph::setGradient(ValueId parameter, ValueId gradient) {
    if (m_gradients.size() <= index(parameter)) m_gradients.resize(index(parameter) + 1);
    m_gradients[index(parameter)] = gradient;
}

std::optional<ValueId> Graph::gradientOf(ValueId parameter) const {
    return index(parameter) < m_gradients.size() ? m_gradients[index(parameter)] : std::nullopt;
}

void Graph::setLayout(ValueId value, std::shared_ptr<const Layout> layout) {
    m_values[index(value)].layout = std::move(layout);
}

void Graph::setAlgorithm(NodeId node, std::string algorithm) { m_nodes[index(node)].algorithm = std::move(algorithm); }

std::vector<ValueId> Graph::withRole(ValueRole role) const {
    std::vector<ValueId> ids;
    for (std::size_t i = 0; i < m_values.size(); ++i) {
        if (m_values[i].role == role) ids.push_back(static_cast<ValueId>(i));
    }
    return ids;
}

std::optional<ValueId> Graph::output(std::string_view name) const {
    const auto found = std::ranges::find(m_outputs, name, &Output::name);
    return found == m_outputs.end() ? std::nullopt : std::optional(found->value);
}

std::optional<ValueId> Graph::find(std::string_view valueName) const {
    const auto found = std::ranges::find(m_values, valueName, &Value::name);
    if (found == m_values.end()) return std::nullopt;
    return static_cast<ValueId>(found - m_values.begin());
}

std::string uniqueScope(const Graph& graph, const OpDef& op, const std::string& scope) {
    const auto taken = [&](const std::string& candidate) {
        return std::ranges::any_of(graph.nodes(),
                                   [&](const Node& node) { return node.op == &op && node.scope == candidate; });
    };
    std::string candidate = scope;
    for (int count = 2; taken(candidate); ++count) candidate = scope + "_" + std::to_string(count);
    return candidate;
}

}  // namespace lockstep
