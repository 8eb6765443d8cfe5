#include "engine/backend/cuda/lowering.h"

#include <algorithm>
#include <map>

#include "engine/backend/cuda/algorithm_names.h"
#include "engine/backend/cuda/fused_ops.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/layout.h"
#include "engine/backend/cuda/norm_fusion.h"
#include "engine/backend/fusion/fuse.h"
#include "engine/backend/fusion/fused_ops.h"
#include "engine/core/error.h"
#include "engine/graph/graph_copy.h"
#include "engine/ops/attention.h"
#include "engine/ops/batch_norm.h"
#include "engine/ops/conv2d.h"
#include "engine/ops/dense.h"
#include "engine/ops/dropout.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/pixels.h"
#include "engine/ops/pool2d.h"
#include "engine/ops/synchronised_norm.h"

namespace lockstep::cuda {

namespace {

// Images: every tensor of rank 4 has its channels last; made of row-major ones: outputs alone. Elementwise: all tensors
// have the layout of the first that has one. All else is row-major.
enum class Wants { RowMajor, Images, MakesImages, Elementwise };

Wants wantsOf(const OpDef& op) {
    static constexpr const OpDef* kImages[] = {&kConv2d,
                                               &kConv2dRelu,
                                               &kConv2dBackwardData,
                                               &kConv2dBackwardWeights,
                                               &kConv2dBackwardBias,
                                               &kMaxPool2d,
                                               &kMaxPool2dBackward,
                                               &kAveragePool2d,
                                               &kAveragePool2dBackward,
                                               &kGlobalAveragePool2d,
                                               &kGlobalAveragePool2dBackward,
                                               &kBatchNormTrain,
                                               &kBatchNormEval,
                                               &kBatchNormBackward,
                                               &kBatchNormEvalBackward,
                                               &kNormTrain,
                                               &kConv2dSums,
                                               &kNormConv2dSums,
                                               &kNormTrainFromSums,
                                               &kNormConv2dBackwardWeights,
                                               &kConv2dBackwardDataNorm,
                                               &kNormBackwardFromSums,
                                               &kNormEval,
                                               &kNormBackward,
                                               &kBatchNormSums,
                                               &kBatchNormTrainFromSums,
                                               &kBatchNormBackwardSums,
                                               &kBatchNormBackwardFromSums};
    static constexpr const OpDef* kLikeElementwise[] = {&kCast, &kDropout, &kDropoutBackward};
    if (&op == &kPixelsToImages) return Wants::MakesImages;
    if (std::ranges::find(kImages, &op) != std::end(kImages)) return Wants::Images;
    const bool isLike = std::ranges::find(kLikeElementwise, &op) != std::end(kLikeElementwise);
    return op.isElementwise || isLike ? Wants::Elementwise : Wants::RowMajor;
}

bool isConvolution(const OpDef& op) {
    static constexpr const OpDef* kAll[] = {
        &kConv2d,     &kConv2dRelu,     &kConv2dBackwardData,        &kConv2dBackwardWeights,
        &kConv2dSums, &kNormConv2dSums, &kNormConv2dBackwardWeights, &kConv2dBackwardDataNorm};
    return std::ranges::find(kAll, &op) != std::end(kAll);
}

bool isMatrixProduct(const OpDef& op) {
    static constexpr const OpDef* kAll[] = {
        &kDense, &kDenseRelu, &kDenseAdd, &kDenseBackwardData, &kDenseBackwardWeights, &kDenseBackwardWeightsBias};
    return std::ranges::find(kAll, &op) != std::end(kAll);
}

bool asksCudnn(const OpDef& op) { return isConvolution(op) || &op == &kAttention || &op == &kAttentionBackward; }

class Lowering : private GraphCopy {
public:
    Lowering(const Graph& graph, Precision precision, AlgorithmChoice algorithms)
        : GraphCopy(graph), m_graph(graph), m_tf32(precision == Precision::Tf32), m_byRule(isByRule(algorithms)) {
        for (const ValueRole role : {ValueRole::Parameter, ValueRole::Frozen})
            for (const ValueId parameter : made().withRole(role))
                made().setLayout(parameter, channelsLast(made().typeOf(parameter)));
    }

    Graph run() {
        for (const Node& node : m_graph.nodes()) emit(node);
        return finish([this](ValueId parameter, ValueId gradient) {
            return inLayout(now(gradient), made().value(parameter).layout);
        });
    }

private:
    void emit(const Node& node) {
        if (!node.op->isView && !findKernel(*node.op))
            throw EngineError(EngineError::Kind::Device, std::string(node.op->name) + " " + node.scope,
                              "the CUDA backend has no kernel for this operation; train this model on cpu devices");
        Node made = node;
        made.algorithm = algorithmName(m_tf32 && (isConvolution(*node.op) || isMatrixProduct(*node.op)),
                                       m_byRule && asksCudnn(*node.op));
        layOut(std::move(made), node.outputs);
    }

    void layOut(Node node, const std::vector<ValueId>& outputs) {
        const bool laidOut = isLaidOut(node), readsLaidOut = laidOut && wantsOf(*node.op) != Wants::MakesImages;
        for (ValueId& input : node.inputs)
            input = inLayout(now(input), readsLaidOut ? channelsLast(m_graph.typeOf(input)) : nullptr);
        std::vector<Value> values;
        for (const ValueId output : outputs) {
            const Value& old = m_graph.value(output);
            values.push_back(
                {.name = old.name, .type = old.type, .layout = laidOut ? channelsLast(old.type) : nullptr});
        }
        const auto made = this->made().appendLowered(std::move(node), std::move(values));
        for (std::size_t i = 0; i < outputs.size(); ++i) become(outputs[i], made[i]);
    }

    bool isLaidOut(const Node& node) const {
        switch (wantsOf(*node.op)) {
            case Wants::Images:
            case Wants::MakesImages: return true;
            case Wants::RowMajor: return false;
            case Wants::Elementwise: break;
        }
        return std::ranges::any_of(node.inputs,
                                   [&](ValueId input) { return isChannelsLast(made().value(now(input))); });
    }

    // A new value as it is or, in the other of its two layouts, behind a reorder.
    ValueId inLayout(ValueId value, const std::shared_ptr<const Layout>& layout) {
        if (isChannelsLast(made().value(value)) == (layout != nullptr)) return value;
        const auto [found, isNew] = m_reordered.try_emplace(value, value);
        if (!isNew) return found->second;
        const Value from = made().value(value);
        Node node{.op = &kReorder, .inputs = {value}, .scope = uniqueScope(made(), kReorder, from.name)};
        return found->second = made().appendLowered(std::move(node), {{.type = from.type, .layout = layout}})[0];
    }

    const Graph& m_graph;
    bool m_tf32, m_byRule;
    std::map<ValueId, ValueId> m_reordered;  // a new value in its other layout
};

}  // namespace

Graph lower(const Graph& graph, Precision precision, bool normsInConvolutions, AlgorithmChoice algorithms) {
    const Graph fused = fuse(foldViews(graph), [](const OpDef& op) { return findKernel(op) != nullptr; });
    return Lowering(normsInConvolutions ? fuseNormsWithConvolutions(fused) : fused, precision, algorithms).run();
}

}  // namespace lockstep::cuda
