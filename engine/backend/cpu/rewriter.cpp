#include "engine/backend/cpu/rewriter.h"

namespace lockstep::cpu {

Rewriter::Rewriter(const Graph& graph)
    : m_old(graph), m_now(graph.values().size()), m_users(graph.values().size()), m_kept(graph.values().size()) {
    copySources();
    countUses();
}

void Rewriter::copySources() {
    for (std::size_t i = 0; i < m_old.values().size(); ++i) {
        const Value& value = m_old.values()[i];
        switch (value.role) {
            case ValueRole::Input:
                m_now[i] = m_made.addInput(value.name, value.type);
                break;
            case ValueRole::Parameter:
                m_now[i] = m_made.addParameter(value.name, value.type, value.init, value.decays);
                break;
            case ValueRole::Frozen:
                m_now[i] = m_made.addFrozen(value.name, value.type, value.init);
                break;
            case ValueRole::Buffer:
                m_now[i] = m_made.addBuffer(value.name, value.type, value.init);
                break;
            case ValueRole::Intermediate:
                break;
        }
    }
}

void Rewriter::countUses() {
    for (std::size_t i = 0; i < m_old.nodes().size(); ++i) {
        for (const ValueId id : m_old.nodes()[i].inputs) m_users[index(id)].push_back(i);
    }
    for (const Graph::Output& output : m_old.outputs()) m_kept[index(output.value)] = true;
    for (const Graph::Assignment& assignment : m_old.assignments()) m_kept[index(assignment.value)] = true;
    for (const ValueId parameter : m_old.withRole(ValueRole::Parameter)) {
        if (const auto gradient = m_old.gradientOf(parameter)) m_kept[index(*gradient)] = true;
    }
}

void Rewriter::copyOutputs() {
    for (const Graph::Output& output : m_old.outputs()) m_made.addOutput(output.name, now(output.value));
    for (const Graph::Assignment& each : m_old.assignments()) m_made.assign(now(each.buffer), now(each.value));
}

const Node* Rewriter::producer(ValueId old, const OpDef& op) const {
    const auto node = oldValue(old).producer;
    return node && m_old.node(*node).op == &op ? &m_old.node(*node) : nullptr;
}

std::size_t Rewriter::producerIndex(ValueId old) const {
    const auto node = oldValue(old).producer;
    return node ? index(*node) : 0;
}

void Rewriter::append(Node node, const std::vector<ValueId>& outputs) {
    for (ValueId& input : node.inputs) input = now(input);
    std::vector<Value> values;
    for (const ValueId id : outputs) values.push_back({.name = oldValue(id).name, .type = oldValue(id).type});
    const auto made = m_made.appendLowered(std::move(node), std::move(values));
    for (std::size_t i = 0; i < outputs.size(); ++i) become(outputs[i], made[i]);
}

}  // namespace lockstep::cpu
