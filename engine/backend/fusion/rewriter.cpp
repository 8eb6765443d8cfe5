#include "engine/backend/fusion/rewriter.h"

namespace lockstep {

Rewriter::Rewriter(const Graph& graph, Parameters parameters)
    : GraphCopy(graph, parameters), m_old(graph), m_users(graph.values().size()), m_kept(graph.values().size()) {
    countUses();
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

const Node* Rewriter::producer(ValueId old, const OpDef& op) const {
    const auto node = oldValue(old).producer;
    return node && m_old.node(*node).op == &op ? &m_old.node(*node) : nullptr;
}

std::size_t Rewriter::producerIndex(ValueId old) const {
    const auto node = oldValue(old).producer;
    return node ? index(*node) : 0;
}

}  // namespace lockstep
