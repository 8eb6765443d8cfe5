#pragma once
#include <optional>
#include <vector>

#include "engine/graph/graph.h"

namespace lockstep {

// What an op's gradient rule sees: the node, its values, and the gradients of its outputs; it appends nodes and states
// the gradients of its inputs. Lives only during one call of a rule.
class GradientContext {
public:
    GradientContext(Graph& graph, NodeId node, std::vector<std::optional<ValueId>> outputGradients,
                    std::vector<bool> wanted);

    const Attrs& attrs() const;
    const Graph& graph() const { return m_graph; }
    ValueId input(int i) const;
    ValueId output(int i) const;
    int inputCount() const;
    std::optional<ValueId> outputGradient(int i) const;  // empty: nothing downstream needs it
    bool wants(int input) const;                         // false: nobody needs this input's gradient, do not compute it

    std::vector<ValueId> append(const OpDef& op, std::vector<ValueId> inputs, Attrs attrs = {});
    void setInputGradient(int input, ValueId gradient);  // at most once per input

    const std::vector<std::optional<ValueId>>& inputGradients() const { return m_inputGradients; }

private:
    Graph& m_graph;
    NodeId m_node;
    std::vector<std::optional<ValueId>> m_outputGradients;
    std::vector<bool> m_wanted;
    std::vector<std::optional<ValueId>> m_inputGradients;
};

}  // namespace lockstep
