#pragma once
#include <optional>
#include <vector>

#include "engine/graph/graph.h"

namespace lockstep {

// Makes a graph from another, node by node. Inputs, parameters and buffers are there from the start; the other `old`
// values, those of the graph that is read and must stay, have a new one once a node has made it, or become() says
// which.
class GraphCopy {
public:
    enum class Parameters { AsTheyAre, AtLeastF32 };
    explicit GraphCopy(const Graph& from, Parameters parameters = Parameters::AsTheyAre);
    GraphCopy(const GraphCopy&) = delete;
    GraphCopy& operator=(const GraphCopy&) = delete;

    ValueId now(ValueId old) const { return *m_now[index(old)]; }
    void become(ValueId old, ValueId now) { m_now[index(old)] = now; }
    // Appends a node of old values, which makes the old `outputs` anew.
    void append(Node node, const std::vector<ValueId>& outputs);
    Graph& made() { return m_made; }
    const Graph& made() const { return m_made; }

    // Outputs, assignments and gradients, as old values are now.
    Graph finish() {
        return finish([this](ValueId, ValueId gradient) { return now(gradient); });
    }
    // Gradients by what find() gives for (new parameter, old gradient).
    template <class Find>
    Graph finish(Find find) {
        copyOutputs();
        for (const ValueId parameter : m_from.withRole(ValueRole::Parameter)) {
            if (const auto gradient = m_from.gradientOf(parameter))
                m_made.setGradient(now(parameter), find(now(parameter), *gradient));
        }
        return std::move(m_made);
    }

private:
    void copyOutputs();

    const Graph& m_from;
    Graph m_made;
    std::vector<std::optional<ValueId>> m_now;  // by old value
};

}  // namespace lockstep
