#include "engine/backend/cuda/lowering.h"

#include <algorithm>
#include <map>
#include <optional>

#include "engine/backend/cuda/fused_ops.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/layout.h"
#include "engine/core/error.h"
#include "engine/graph/graph_copy.h"
#include "engine/ops/activation.h"
#include "engine/ops/batch_norm.h"
#include "engine/ops/conv2d.h"
#include "engine/ops/dense.h"
#include "engine/ops/dropout.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/pool2d.h"
#include "engine/ops/synchronised_norm.h"

namespace lockstep::cuda {

namespace {

// Images: every tensor of rank 4 has its channels last. Elementwise: all tensors have the layout of the first that has
// one. All else is row-major.
enum class Wants { RowMajor, Images, Elementwise };

Wants wantsOf(const OpDef& op) {
    static constexpr const OpDef* kImages[] = {&kConv2d,
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
                                               &kBatchNormSums,
                                               &kBatchNormTrainFromSums,
                                               &kBatchNormBackwardSums,
                                               &kBatchNormBackwardFromSums};
    static constexpr const OpDef* kElementwise[] = {&kRelu,         &kReluBackward, &kRelu6,        &kRelu6Backward,
                                                    &kAdd,          &kGelu,         &kGeluBackward, &kSilu,
                                                    &kSiluBackward, &kCast,         &kDropout,      &kDropoutBackward};
    if (std::ranges::find(kImages, &op) != std::end(kImages)) return Wants::Images;
    return std::ranges::find(kElementwise, &op) != std::end(kElementwise) ? Wants::Elementwise : Wants::RowMajor;
}

class Lowering : private GraphCopy {
public:
    Lowering(const Graph& graph, Precision precision)
        : GraphCopy(graph), m_graph(graph), m_precision(precision), m_isFused(graph.nodes().size(), false) {
        for (const ValueRole role : {ValueRole::Parameter, ValueRole::Frozen})
            for (const ValueId parameter : made().withRole(role))
                made().setLayout(parameter, channelsLast(made().typeOf(parameter)));
    }

    Graph run() {
        for (std::size_t i = 0; i < m_graph.nodes().size(); ++i) {
            if (!m_isFused[i]) emit(m_graph.nodes()[i]);
        }
        return finish([this](ValueId parameter, ValueId gradient) {
            return inLayout(now(gradient), made().value(parameter).layout);
        });
    }

private:
    void emit(const Node& node) {
        if (!node.op->isView && !findKernel(*node.op))
            throw EngineError(EngineError::Kind::Device, std::string(node.op->name) + " " + node.scope,
                              "the CUDA backend has no kernel for this operation; train this model on cpu devices");
        const auto relu = node.op == &kDense ? soleRelu(node) : std::nullopt;
        Node made = node;
        if (relu) {
            m_isFused[index(*relu)] = true;
            made.op = &kDenseRelu;
        }
        if (m_precision == Precision::Tf32 && node.op->flops) made.algorithm = text(m_precision);
        layOut(std::move(made), relu ? m_graph.node(*relu).outputs : node.outputs);
    }

    void layOut(Node node, const std::vector<ValueId>& outputs) {
        const bool laidOut = isLaidOut(node);
        for (ValueId& input : node.inputs)
            input = inLayout(now(input), laidOut ? channelsLast(m_graph.typeOf(input)) : nullptr);
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
                return true;
            case Wants::RowMajor:
                return false;
            case Wants::Elementwise:
                break;
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

    // The relu that is the only reader of this dense layer's output, if that is so.
    std::optional<NodeId> soleRelu(const Node& dense) const {
        std::optional<NodeId> reader;
        for (std::size_t i = 0; i < m_graph.nodes().size(); ++i) {
            const Node& node = m_graph.nodes()[i];
            if (std::ranges::find(node.inputs, dense.outputs[0]) == node.inputs.end()) continue;
            if (reader || node.op != &kRelu) return std::nullopt;
            reader = static_cast<NodeId>(i);
        }
        return isKept(dense.outputs[0]) ? std::nullopt : reader;
    }

    bool isKept(ValueId value) const {
        return std::ranges::any_of(m_graph.outputs(),
                                   [&](const Graph::Output& output) { return output.value == value; });
    }

    const Graph& m_graph;
    Precision m_precision;
    std::vector<bool> m_isFused;
    std::map<ValueId, ValueId> m_reordered;  // a new value in its other layout
};

}  // namespace

Graph lower(const Graph& graph, Precision precision) {
    return Lowering(graph, precision).run();
}

}  // namespace lockstep::cuda
