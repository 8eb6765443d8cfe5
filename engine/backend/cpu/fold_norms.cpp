#include "engine/backend/cpu/fold_norms.h"

#include <map>
#include <set>

#include "engine/backend/cpu/conv_request.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/fusion/rewriter.h"
#include "engine/ops/elementwise.h"

namespace lockstep::cpu {

namespace {

class NormFolder : private Rewriter {
public:
    NormFolder(const Graph& graph, const ConvChoice& choose) : Rewriter(graph), m_graph(graph), m_choose(choose) {}

    Graph run() {
        for (std::size_t i = 0; i < m_graph.nodes().size(); ++i) find(i);
        for (std::size_t i = 0; i < m_graph.nodes().size(); ++i) emit(i);
        return finish();
    }

private:
    struct Fold {
        const Node* norm;
        FusedNormAttrs attrs;
        Clamp clamp = Clamp::None;
        std::optional<ValueId> addend = std::nullopt;
    };

    void find(std::size_t i) {
        const Node& norm = oldNode(i);
        if (norm.op != &kBatchNormEval && norm.op != &kNormEval) return;
        Fold fold{&norm, norm.op == &kNormEval ? norm.attrs.as<FusedNormAttrs>()
                                               : FusedNormAttrs{norm.attrs.as<BatchNormAttrs>(), {}}};
        const bool isSecond = fold.attrs.residual == Residual::Norm;
        if (!isWorthwhile(norm.inputs[0]) || (isSecond && !isWorthwhile(norm.inputs[5]))) return;
        m_gone.insert(producerIndex(norm.inputs[0]));
        if (isSecond) m_gone.insert(producerIndex(norm.inputs[5]));
        if (fold.attrs.relu) fold.clamp = Clamp::Relu;
        if (fold.attrs.residual == Residual::Tensor) fold.addend = norm.inputs[5];
        const bool isBare = !fold.attrs.relu && fold.attrs.residual == Residual::None;
        const auto last = isBare ? takeNext(fold) : std::nullopt;
        if (last) m_gone.insert(i);
        m_folds.emplace(last.value_or(i), fold);
    }

    // The ReLU6 or the sum that alone reads the norm, if it may go with it.
    std::optional<std::size_t> takeNext(Fold& fold) const {
        const ValueId z = fold.norm->outputs[0];
        if (isKept(z) || users(z).size() != 1 || m_folds.contains(users(z)[0])) return std::nullopt;
        const Node& next = oldNode(users(z)[0]);
        if (next.op == &kRelu6) fold.clamp = Clamp::Relu6;
        else if (next.op == &kAdd) fold.addend = next.inputs[next.inputs[0] == z ? 1 : 0];
        else return std::nullopt;
        return users(z)[0];
    }

    // What is saved is a pass over what the convolution makes. To the library's in f32 it costs one over the weights.
    bool isWorthwhile(ValueId y) const {
        const Node* conv = producer(y, kConv2d);
        if (!conv || conv->inputs.size() != 2 || isKept(y) || users(y).size() != 1) return false;
        const auto& attrs = conv->attrs.as<Conv2dAttrs>();
        const Shape &x = shapeOf(conv->inputs[0]), &w = shapeOf(conv->inputs[1]);
        if (suitsLanes(attrs, x, w)) return false;
        const ConvAlgorithm algorithm = m_choose({onednn::Pass::Forward, attrs, x, w, shapeOf(y)});
        return algorithm != ConvAlgorithm::Direct || shapeOf(y).count() >= w.count();
    }

    void emit(std::size_t i) {
        const Node& node = oldNode(i);
        const auto found = m_folds.find(i);
        if (found == m_folds.end()) return m_gone.contains(i) ? void() : append(node, node.outputs);
        const auto& [norm, attrs, clamp, addend] = found->second;
        std::optional<ValueId> other;
        if (addend) other = now(*addend);
        if (attrs.residual == Residual::Norm) other = folded(*norm, 5, attrs.second, std::nullopt, Clamp::None);
        become(node.outputs[0], folded(*norm, 0, attrs.norm, other, clamp));
    }

    // The convolution that a norm's input `x` comes from, with the norm, whose vectors follow it.
    ValueId folded(const Node& norm, std::size_t x, const BatchNormAttrs& attrs, std::optional<ValueId> addend,
                   Clamp clamp) {
        const Node& conv = *producer(norm.inputs[x], kConv2d);
        const Value& y = oldValue(norm.inputs[x]);
        const Value vector{.name = "", .type = {{y.type.shape[1]}, DType::F32}};
        std::vector<ValueId> vectors;
        for (std::size_t input = x + 1; input <= x + 4; ++input) vectors.push_back(now(norm.inputs[input]));
        const std::string scope = x == 0 ? norm.scope : conv.scope;
        const auto affine =
            made().appendLowered({&kFoldNorm, vectors, {}, Attrs::of(attrs), scope, {}}, {vector, vector});
        std::vector<ValueId> inputs{now(conv.inputs[0]), now(conv.inputs[1]), affine[1], affine[0]};
        if (addend) inputs.push_back(*addend);
        const FoldedConvAttrs how{conv.attrs.as<Conv2dAttrs>(), addend.has_value(), clamp};
        return made().appendLowered({&kConv2dFolded, std::move(inputs), {}, Attrs::of(how), conv.scope, {}},
                                    {{.name = y.name, .type = y.type}})[0];
    }

    const Shape& shapeOf(ValueId id) const { return oldValue(id).type.shape; }

    const Graph& m_graph;
    const ConvChoice& m_choose;
    std::set<std::size_t> m_gone;         // what is made with something later
    std::map<std::size_t, Fold> m_folds;  // by the last node that they take the place of
};

}  // namespace

Graph foldNorms(const Graph& graph, const ConvChoice& choose) { return NormFolder(graph, choose).run(); }

}  // namespace lockstep::cpu
