#include <algorithm>
#include <map>
#include <set>

#include "engine/backend/cpu/fuse_conv.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/fusion/rewriter.h"
#include "engine/ops/elementwise.h"

namespace lockstep::cpu {

namespace {

// Convolutions take in what is around them: the norm and ReLU of what they read, which is then made anew wherever it is
// read instead of being kept, and the other branch that is added to what they write.
class ConvFuser : private Rewriter {
public:
    ConvFuser(const Graph& graph, const ConvChoice& choose) : Rewriter(graph), m_graph(graph), m_choose(choose) {}

    Graph run() {
        for (std::size_t i = 0; i < m_graph.nodes().size(); ++i) find(i);
        for (std::size_t i = 0; i < m_graph.nodes().size(); ++i) emit(i);
        return finish();
    }

private:
    void find(std::size_t i) {
        const Node& node = oldNode(i);
        if (node.op == &kNormTrain && isReadByConvolutions(node)) m_norms[node.outputs[0]] = &node;
        if (node.op == &kAdd) findAddition(i);
    }

    bool isReadByConvolutions(const Node& norm) const {
        const auto& attrs = norm.attrs.as<FusedNormAttrs>();
        const ValueId z = norm.outputs[0];
        const bool isPlain = attrs.relu && attrs.residual == Residual::None;
        return isPlain && !isKept(z) && !users(z).empty() &&
               std::ranges::all_of(users(z), [&](std::size_t user) { return takesNorm(oldNode(user), z); });
    }

    bool takesNorm(const Node& node, ValueId z) const {
        if (node.inputs[0] != z || std::ranges::count(node.inputs, z) != 1) return false;
        if (node.op == &kConv2d) return isOwn(node);
        if (node.op != &kConv2dBackwardWeights) return false;
        const auto& [attrs, shape] = node.attrs.as<Conv2dBackwardAttrs>();
        return cpu::isOwn(m_choose({onednn::Pass::BackwardWeights, attrs, shapeOf(z), shape, shapeOf(node.inputs[1])}));
    }

    // A convolution without a bias that our own kernels make.
    bool isOwn(const Node& conv) const {
        return conv.inputs.size() == 2 &&
               cpu::isOwn(m_choose({onednn::Pass::Forward, conv.attrs.as<Conv2dAttrs>(), shapeOf(conv.inputs[0]),
                                    shapeOf(conv.inputs[1]), shapeOf(conv.outputs[0])}));
    }

    const Shape& shapeOf(ValueId id) const { return oldValue(id).type.shape; }

    void findAddition(std::size_t i) {
        const Node& add = oldNode(i);
        if (add.inputs[0] == add.inputs[1]) return;
        for (const std::size_t side : {0, 1}) {
            const ValueId y = add.inputs[side];
            const Node* conv = producer(y, kConv2d);
            if (!conv || isKept(y) || users(y).size() != 1 || !isOwn(*conv)) continue;
            m_added.insert(producerIndex(y));
            m_additions[i] = {conv, add.inputs[1 - side]};
            return;
        }
    }

    void emit(std::size_t i) {
        const Node& node = oldNode(i);
        if (m_added.contains(i)) return;
        const auto addition = m_additions.find(i);
        if (addition != m_additions.end())
            return append(fused(*addition->second.conv, addition->second.addend), node.outputs);
        if (m_norms.contains(node.outputs[0])) return appendStatistics(node);
        const bool isNormed = !node.inputs.empty() && m_norms.contains(node.inputs[0]);
        if (isNormed && node.op == &kConv2d) return append(fused(node, std::nullopt), node.outputs);
        if (isNormed) return append(normedWeights(node), node.outputs);
        append(node, node.outputs);
    }

    void appendStatistics(const Node& norm) {
        const std::vector<ValueId> outputs(norm.outputs.begin() + 1, norm.outputs.end());
        append({&kNormStatistics, norm.inputs, {}, Attrs::of(norm.attrs.as<FusedNormAttrs>().norm), norm.scope, {}},
               outputs);
    }

    Node fused(const Node& conv, std::optional<ValueId> addend) const {
        FusedConvAttrs attrs{.conv = conv.attrs.as<Conv2dAttrs>(), .adds = addend.has_value()};
        std::vector<ValueId> inputs = conv.inputs;
        attrs.norm = takeNorm(inputs);
        if (addend) inputs.push_back(*addend);
        return {&kConv2dFused, std::move(inputs), {}, Attrs::of(attrs), conv.scope, {}};
    }

    Node normedWeights(const Node& node) const {
        std::vector<ValueId> inputs = node.inputs;
        takeNorm(inputs);
        return {&kConv2dBackwardWeightsNormed, std::move(inputs), {}, node.attrs, node.scope, {}};
    }

    // Instead of the norm's output: its input, gamma, beta, mean and invStd.
    bool takeNorm(std::vector<ValueId>& inputs) const {
        const auto found = m_norms.find(inputs[0]);
        if (found == m_norms.end()) return false;
        const Node& norm = *found->second;
        inputs[0] = norm.inputs[0];
        inputs.insert(inputs.end(), {norm.inputs[1], norm.inputs[2], norm.outputs[1], norm.outputs[2]});
        return true;
    }

    struct Addition {
        const Node* conv;
        ValueId addend;
    };

    const Graph& m_graph;
    const ConvChoice& m_choose;
    std::map<ValueId, const Node*> m_norms;       // by the output that need not be made
    std::set<std::size_t> m_added;                // convolutions that are made where their sum is
    std::map<std::size_t, Addition> m_additions;  // by the place of the sum
};

}  // namespace

Graph fuseConvolutions(const Graph& graph, const ConvChoice& choose) { return ConvFuser(graph, choose).run(); }

}  // namespace lockstep::cpu
