#include "engine/graph/graph_copy.h"

namespace lockstep {

namespace {

ValueId addSource(Graph& graph, const Value& value) {
    switch (value.role) {
        case ValueRole::Input: return graph.addInput(value.name, value.type);
        case ValueRole::Frozen: return graph.addFrozen(value.name, value.type, value.init);
        case ValueRole::Buffer: return graph.addBuffer(value.name, value.type, value.init);
        default: return graph.addParameter(value.name, value.type, value.init, value.decays);
    }
}

}  // namespace

GraphCopy::GraphCopy(const Graph& from, Parameters parameters) : m_from(from), m_now(from.values().size()) {
    for (std::size_t i = 0; i < m_now.size(); ++i) {
        Value value = from.values()[i];
        if (value.role == ValueRole::Intermediate) continue;
        const bool widens = parameters == Parameters::AtLeastF32 && value.role != ValueRole::Input;
        if (widens) value.type.dtype = atLeastF32(value.type.dtype);
        m_now[i] = addSource(m_made, value);
    }
}

void GraphCopy::append(Node node, const std::vector<ValueId>& outputs) {
    for (ValueId& input : node.inputs) input = now(input);
    std::vector<Value> values;
    for (const ValueId id : outputs) values.push_back({.name = m_from.value(id).name, .type = m_from.typeOf(id)});
    const auto made = m_made.appendLowered(std::move(node), std::move(values));
    for (std::size_t i = 0; i < outputs.size(); ++i) become(outputs[i], made[i]);
}

void GraphCopy::copyOutputs() {
    for (const Graph::Output& output : m_from.outputs()) m_made.addOutput(output.name, now(output.value));
    for (const Graph::Assignment& each : m_from.assignments()) m_made.assign(now(each.buffer), now(each.value));
}

}  // namespace lockstep
