#pragma once
#include <vector>

#include "engine/graph/graph_copy.h"

namespace lockstep {

// What passes from graph to graph share: they walk over the old graph's nodes and append to a new one, and look at who
// makes and reads the old values.
class Rewriter : protected GraphCopy {
protected:
    explicit Rewriter(const Graph& graph, Parameters parameters = Parameters::AsTheyAre);
    ~Rewriter() = default;

    const Node& oldNode(std::size_t i) const { return m_old.nodes()[i]; }
    const Value& oldValue(ValueId old) const { return m_old.value(old); }
    // The node that makes an old value, when there is one and it is this op's.
    const Node* producer(ValueId old, const OpDef& op) const;
    std::size_t producerIndex(ValueId old) const;  // before all nodes: 0 for what no node makes
    const std::vector<std::size_t>& users(ValueId old) const { return m_users[index(old)]; }  // one entry per use
    bool isKept(ValueId old) const { return m_kept[index(old)]; }  // an output, an assignment or a gradient

private:
    void countUses();

    const Graph& m_old;
    std::vector<std::vector<std::size_t>> m_users;
    std::vector<bool> m_kept;
};

}  // namespace lockstep
