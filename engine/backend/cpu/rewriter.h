#pragma once
#include <optional>
#include <vector>

#include "engine/graph/graph.h"

namespace lockstep::cpu {

// What passes from graph to graph share: they walk over the old graph's nodes and append to a new one. `old` values and
// nodes are those of the graph read; each old value that still exists has its new one.
class Rewriter {
protected:
    explicit Rewriter(const Graph& graph);
    ~Rewriter() = default;
    Rewriter(const Rewriter&) = delete;
    Rewriter& operator=(const Rewriter&) = delete;

    const Node& oldNode(std::size_t i) const { return m_old.nodes()[i]; }
    const Value& oldValue(ValueId old) const { return m_old.value(old); }
    // The node that makes an old value, when there is one and it is this op's.
    const Node* producer(ValueId old, const OpDef& op) const;
    std::size_t producerIndex(ValueId old) const;  // before all nodes: 0 for what no node makes
    const std::vector<std::size_t>& users(ValueId old) const { return m_users[index(old)]; }  // one entry per use
    bool isKept(ValueId old) const { return m_kept[index(old)]; }  // an output, an assignment or a gradient

    ValueId now(ValueId old) const { return *m_now[index(old)]; }
    void become(ValueId old, ValueId now) { m_now[index(old)] = now; }
    // Appends a node of old values, which makes the old `outputs` anew.
    void append(Node node, const std::vector<ValueId>& outputs);
    Graph& made() { return m_made; }
    const Graph& made() const { return m_made; }

    // Outputs, assignments and gradients; gradients by what find() gives for (new parameter, old gradient).
    template <class Find>
    Graph finish(Find find) {
        copyOutputs();
        for (const ValueId parameter : m_old.withRole(ValueRole::Parameter)) {
            if (const auto gradient = m_old.gradientOf(parameter))
                m_made.setGradient(now(parameter), find(now(parameter), *gradient));
        }
        return std::move(m_made);
    }

private:
    void copySources();
    void countUses();
    void copyOutputs();

    const Graph& m_old;
    Graph m_made;
    std::vector<std::optional<ValueId>> m_now;
    std::vector<std::vector<std::size_t>> m_users;
    std::vector<bool> m_kept;
};

}  // namespace lockstep::cpu
