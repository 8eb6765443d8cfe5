#include "engine/autodiff/gradients.h"

#include <algorithm>

#include "engine/core/error.h"
#include "engine/core/result.h"
#include "engine/graph/gradient_context.h"
#include "engine/ops/elementwise.h"

namespace lockstep {

namespace {

class BackwardPass {
public:
    explicit BackwardPass(Graph& graph)
        : m_graph(graph), m_wanted(dependsOnParameter(graph)), m_gradients(graph.values().size()) {}

    // When a node's turn comes, all uses of its outputs have been walked over and their gradients summed.
    std::vector<NodeId> run(ValueId loss) {
        const std::size_t forwardNodes = m_graph.nodes().size();
        std::vector<NodeId> differentiated;
        seed(loss);
        for (std::size_t i = forwardNodes; i-- > 0;) {
            const auto id = static_cast<NodeId>(i);
            differentiate(id);
            differentiated.resize(m_graph.nodes().size() - forwardNodes, id);  // the seed is the last node's
        }
        record();
        return differentiated;
    }

private:
    std::string scopeOf(ValueId id) const {
        const Value& value = m_graph.value(id);
        return value.producer ? m_graph.node(*value.producer).scope : value.name;
    }

    ValueId append(const OpDef& op, std::vector<ValueId> inputs, Attrs attrs, ValueId of) {
        return m_graph.append(op, std::move(inputs), std::move(attrs), uniqueScope(m_graph, op, scopeOf(of)))[0];
    }

    void seed(ValueId loss) {
        if (!m_wanted[index(loss)]) return;
        m_gradients[index(loss)] = append(kFill, {}, Attrs::of(FillAttrs{m_graph.typeOf(loss), 1.0}), loss);
    }

    void differentiate(NodeId id) {
        const OpDef* op = m_graph.node(id).op;
        const std::vector<ValueId> inputs = m_graph.node(id).inputs, outputs = m_graph.node(id).outputs;
        std::vector<std::optional<ValueId>> outputGradients;
        for (const ValueId output : outputs) outputGradients.push_back(m_gradients[index(output)]);
        std::vector<bool> wanted;
        for (const ValueId input : inputs) wanted.push_back(m_wanted[index(input)]);
        const auto given = [](const std::optional<ValueId>& gradient) { return gradient.has_value(); };
        // A gradient arrives only where one is wanted, so the op has a rule.
        if (std::ranges::none_of(outputGradients, given)) return;

        GradientContext context(m_graph, id, std::move(outputGradients), wanted);
        op->gradient(context);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const auto gradient = context.inputGradients()[i];
            if (gradient && wanted[i]) accumulate(inputs[i], *gradient);
        }
    }

    void accumulate(ValueId value, ValueId gradient) {
        if (m_graph.typeOf(gradient) != m_graph.typeOf(value)) {
            throw EngineError(
                EngineError::Kind::Internal, "gradient of " + m_graph.value(value).name,
                "a gradient rule gave " + m_graph.typeOf(gradient).text() + " for " + m_graph.typeOf(value).text());
        }
        auto& sum = m_gradients[index(value)];
        sum = sum ? append(kAdd, {*sum, gradient}, {}, value) : gradient;
    }

    void record() {
        for (const ValueId parameter : m_graph.withRole(ValueRole::Parameter)) {
            const auto gradient = m_gradients[index(parameter)];
            const std::string& name = m_graph.value(parameter).name;
            if (!gradient) throw ProblemError({name, "graph.unused-parameter", {name}});
            m_graph.setGradient(parameter, *gradient);
        }
    }

    Graph& m_graph;
    std::vector<bool> m_wanted;  // by value; of the forward graph, as are the gradients
    std::vector<std::optional<ValueId>> m_gradients;
};

}  // namespace

std::vector<NodeId> appendGradients(Graph& graph, ValueId loss) { return BackwardPass(graph).run(loss); }

std::vector<bool> dependsOnParameter(const Graph& graph) {
    std::vector<bool> depends(graph.values().size());
    for (const ValueId id : graph.withRole(ValueRole::Parameter)) depends[index(id)] = true;
    for (const Node& node : graph.nodes()) {
        const auto needed = [&](ValueId id) { return depends[index(id)]; };
        const bool any = node.op->gradient && std::ranges::any_of(node.inputs, needed);
        for (const ValueId id : node.outputs) depends[index(id)] = any;
    }
    return depends;
}

}  // namespace lockstep
