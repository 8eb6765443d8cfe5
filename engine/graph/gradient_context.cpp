#include "engine/graph/gradient_context.h"

#include <cassert>

namespace lockstep {

GradientContext::GradientContext(Graph& graph, NodeId node, std::vector<std::optional<ValueId>> outputGradients,
                                 std::vector<bool> wanted)
    : m_graph(graph),
      m_node(node),
      m_outputGradients(std::move(outputGradients)),
      m_wanted(std::move(wanted)),
      m_inputGradients(m_wanted.size()) {}

const Attrs& GradientContext::attrs() const { return m_graph.node(m_node).attrs; }

ValueId GradientContext::input(int i) const { return m_graph.node(m_node).inputs[static_cast<std::size_t>(i)]; }

ValueId GradientContext::output(int i) const { return m_graph.node(m_node).outputs[static_cast<std::size_t>(i)]; }

int GradientContext::inputCount() const { return static_cast<int>(m_wanted.size()); }

std::optional<ValueId> GradientContext::outputGradient(int i) const {
    return m_outputGradients[static_cast<std::size_t>(i)];
}

bool GradientContext::wants(int input) const { return m_wanted[static_cast<std::size_t>(input)]; }

std::vector<ValueId> GradientContext::append(const OpDef& op, std::vector<ValueId> inputs, Attrs attrs) {
    std::string scope = uniqueScope(m_graph, op, m_graph.node(m_node).scope);
    return m_graph.append(op, std::move(inputs), std::move(attrs), std::move(scope));
}

void GradientContext::setInputGradient(int input, ValueId gradient) {
    auto& slot = m_inputGradients[static_cast<std::size_t>(input)];
    assert(!slot && "an input's gradient was stated twice");
    slot = gradient;
}

}  // namespace lockstep
