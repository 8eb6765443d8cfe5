#include "engine/backend/cuda/norm_fusion.h"

#include <algorithm>
#include <array>
#include <map>

#include "engine/backend/cuda/fused_ops.h"
#include "engine/backend/fusion/fused_ops.h"
#include "engine/backend/fusion/rewriter.h"
#include "engine/ops/conv2d.h"

namespace lockstep::cuda {

namespace {

class NormFusion : private Rewriter {
public:
    explicit NormFusion(const Graph& graph) : Rewriter(graph), m_graph(graph) {}

    Graph run() {
        for (std::size_t i = 0; i < m_graph.nodes().size(); ++i) emit(oldNode(i));
        return finish();
    }

private:
    void emit(const Node& node) {
        if (node.op == &kConv2d && hasSums(node)) return emitConvolution(node);
        if (isTrainingNorm(node) && isOfSums(node)) return emitNorm(node);
        if (node.op == &kConv2dBackwardWeights && normAhead(node.inputs[0])) return emitBackwardWeights(node);
        if (node.op == &kConv2dBackwardData && normBackwardOf(node)) return emitBackwardData(node);
        if (const auto sums = node.op == &kNormBackward ? m_gradientSums.find(node.inputs[0]) : m_gradientSums.end();
            sums != m_gradientSums.end())
            return emitNormBackward(node, sums->second);
        append(node, node.outputs);
    }

    // what patterns ask

    const Shape& shapeOf(ValueId value) const { return oldValue(value).type.shape; }

    bool suits(const Conv2dAttrs& attrs, ValueId x, ValueId y) const {
        const auto inEights = [&](ValueId images) { return shapeOf(images)[1] % 8 == 0; };
        return attrs.groups == 1 && inEights(x) && inEights(y);
    }

    static bool isTrainingNorm(const Node& node) { return node.op == &kNormTrain || node.op == &kBatchNormTrain; }
    static FusedNormAttrs normOf(const Node& node) {
        if (node.op == &kNormTrain) return node.attrs.as<FusedNormAttrs>();
        return {.norm = node.attrs.as<BatchNormAttrs>(), .second = {}};
    }

    // What a norm needs the statistics of.
    static std::vector<ValueId> normalisedBy(const Node& norm) {
        std::vector<ValueId> found{norm.inputs[0]};
        if (normOf(norm).residual == Residual::Norm) found.push_back(norm.inputs[5]);
        return found;
    }
    bool isOfSums(const Node& norm) const {
        const auto isMadeWithSums = [&](ValueId x) {
            const Node* conv = producer(x, kConv2d);
            return conv && conv->inputs.size() == 2 && suits(conv->attrs.as<Conv2dAttrs>(), conv->inputs[0], x);
        };
        return std::ranges::all_of(normalisedBy(norm), isMadeWithSums);
    }
    bool hasSums(const Node& conv) const {
        const ValueId y = conv.outputs[0];
        return std::ranges::any_of(users(y), [&](std::size_t user) {
            const Node& norm = oldNode(user);
            return isTrainingNorm(norm) && isOfSums(norm) && std::ranges::count(normalisedBy(norm), y) > 0;
        });
    }

    // The norm with ReLU that makes `z` for convolutions alone, which can apply both as they read.
    const Node* normAhead(ValueId z) const {
        const Node* norm = producer(z, kNormTrain);
        if (!norm || norm->outputs[0] != z || isKept(z) || !isOfSums(*norm)) return nullptr;
        const FusedNormAttrs attrs = normOf(*norm);
        if (!attrs.relu || attrs.residual != Residual::None) return nullptr;
        bool isRead = false;
        for (const std::size_t user : users(z)) {
            const Node& node = oldNode(user);
            const bool isForward = node.op == &kConv2d && hasSums(node);
            const bool isBackward = node.op == &kConv2dBackwardWeights && node.inputs[0] == z &&
                                    suits(node.attrs.as<Conv2dBackwardAttrs>().conv, z, node.inputs[1]);
            if (!isForward && !isBackward) return nullptr;
            isRead |= isForward;
        }
        return isRead ? norm : nullptr;
    }

    // The backward norm for which alone a convolution makes the gradient of its data.
    const Node* normBackwardOf(const Node& conv) const {
        const ValueId g = conv.outputs[0];
        if (isKept(g) || users(g).size() != 1) return nullptr;
        const Node& norm = oldNode(users(g)[0]);
        if (norm.op != &kNormBackward || norm.inputs[0] != g) return nullptr;
        const auto attrs = norm.attrs.as<FusedNormBackwardAttrs>();
        const bool isAlone = attrs.other == GradOther::None || attrs.other == GradOther::Added;
        if (attrs.mask != GradMask::Recomputed || attrs.pair || !isAlone) return nullptr;
        return suits(conv.attrs.as<Conv2dBackwardAttrs>().conv, g, conv.inputs[0]) ? &norm : nullptr;
    }

    // what becomes of them

    // New values in front of or behind those that the old outputs become.
    std::vector<ValueId> make(Node node, const std::vector<ValueId>& inputs, std::vector<TensorType> front,
                              const std::vector<ValueId>& outputs, std::vector<TensorType> back) {
        node.inputs = inputs;
        std::vector<Value> values;
        for (TensorType& type : front) values.push_back({.type = std::move(type)});
        for (const ValueId output : outputs)
            values.push_back({.name = oldValue(output).name, .type = oldValue(output).type});
        for (TensorType& type : back) values.push_back({.type = std::move(type)});
        const std::size_t first = front.size();
        const auto ids = made().appendLowered(std::move(node), std::move(values));
        for (std::size_t i = 0; i < outputs.size(); ++i) become(outputs[i], ids[first + i]);
        return ids;
    }
    std::vector<ValueId> nowOf(const std::vector<ValueId>& old) const {
        std::vector<ValueId> found;
        for (const ValueId value : old) found.push_back(now(value));
        return found;
    }
    static TensorType byChannel(std::int64_t channels, DType dtype) { return {Shape{2, channels}, dtype}; }

    void emitConvolution(const Node& node) {
        Node fused = node;
        std::vector<ValueId> inputs;
        if (const Node* norm = normAhead(node.inputs[0])) {
            fused.op = &kNormConv2dSums;
            inputs = {now(norm->inputs[0]), m_factors.at(node.inputs[0]), now(node.inputs[1])};
        } else {
            fused.op = &kConv2dSums;
            inputs = nowOf(node.inputs);
        }
        const ValueId y = node.outputs[0];
        m_sums[y] = make(std::move(fused), inputs, {}, {y}, {byChannel(shapeOf(y)[1], DType::F32)})[1];
    }

    void emitNorm(const Node& node) {
        const FusedNormAttrs attrs = normOf(node);
        const ValueId x = node.inputs[0], z = node.outputs[0];
        Node fused = node;
        if (normAhead(z)) {
            const std::int64_t channels = shapeOf(x)[1];
            fused.op = &kNormFactors;
            fused.attrs = Attrs::of(NormOfSumsAttrs{attrs.norm, shapeOf(x).count() / channels});
            std::vector<ValueId> inputs = nowOf(node.inputs);
            inputs[0] = m_sums.at(x);
            m_factors[z] = make(std::move(fused), inputs, {byChannel(channels, oldValue(x).type.dtype)},
                                {node.outputs.begin() + 1, node.outputs.end()}, {})[0];
            return;
        }
        fused.op = &kNormTrainFromSums;
        fused.attrs = Attrs::of(attrs);
        std::vector<ValueId> inputs = nowOf(node.inputs);
        for (const ValueId each : normalisedBy(node)) inputs.push_back(m_sums.at(each));
        make(std::move(fused), inputs, {}, node.outputs, {});
    }

    void emitBackwardWeights(const Node& node) {
        Node fused = node;
        fused.op = &kNormConv2dBackwardWeights;
        const ValueId z = node.inputs[0];
        make(std::move(fused), {now(normAhead(z)->inputs[0]), m_factors.at(z), now(node.inputs[1])}, {}, node.outputs,
             {});
    }

    void emitBackwardData(const Node& node) {
        const std::vector<ValueId>& norm = normBackwardOf(node)->inputs;  // g, x, gamma, mean, invStd, beta
        Node fused = node;
        fused.op = &kConv2dBackwardDataNorm;
        std::vector<ValueId> inputs = nowOf(node.inputs);
        for (const std::size_t i : std::array<std::size_t, 5>{1, 2, 5, 3, 4}) inputs.push_back(now(norm[i]));
        const ValueId g = node.outputs[0];
        m_gradientSums[g] = make(std::move(fused), inputs, {}, {g}, {byChannel(shapeOf(g)[1], DType::F32)})[1];
    }

    void emitNormBackward(const Node& node, ValueId sums) {
        Node fused = node;
        fused.op = &kNormBackwardFromSums;
        fused.attrs = {};
        std::vector<ValueId> inputs = nowOf(node.inputs);
        inputs[5] = sums;
        make(std::move(fused), inputs, {}, node.outputs, {});
    }

    const Graph& m_graph;
    // New values by old ones: the sums of a convolution's result, the factors of what a norm made, the sums that came
    // with a gradient.
    std::map<ValueId, ValueId> m_sums, m_factors, m_gradientSums;
};

}  // namespace

Graph fuseNormsWithConvolutions(const Graph& graph) { return NormFusion(graph).run(); }

}  // namespace lockstep::cuda
