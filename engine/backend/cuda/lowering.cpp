#include "engine/backend/cuda/lowering.h"

#include <algorithm>
#include <optional>

#include "engine/backend/backend.h"
#include "engine/core/error.h"

namespace lockstep {

namespace {

std::vector<TensorType> inferDenseRelu(std::span<const TensorType> inputs, const Attrs&) {
    return {{Shape{inputs[0].shape[0], inputs[1].shape[0]}, inputs[0].dtype}};
}

// The relu that is the only reader of this dense layer's output, if that is so.
std::optional<NodeId> soleRelu(const Graph& graph, const Node& dense) {
    std::optional<NodeId> reader;
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        if (std::ranges::find(node.inputs, dense.outputs[0]) == node.inputs.end()) continue;
        if (reader || node.op->name != "relu") return std::nullopt;
        reader = static_cast<NodeId>(i);
    }
    return reader;
}

// Copies a graph node by node; values keep their roles, names, and, in the copy, new ids.
class Copy {
public:
    explicit Copy(const Graph& from) : m_from(from), m_ids(from.values().size()) {
        for (std::size_t i = 0; i < from.values().size(); ++i) addRoot(static_cast<ValueId>(i));
    }

    void node(const Node& node, const OpDef& op, const std::vector<ValueId>& outputs) {
        Node copy = node;
        copy.op = &op;
        copy.outputs.clear();
        for (ValueId& input : copy.inputs) input = *m_ids[index(input)];
        std::vector<Value> values;
        for (const ValueId output : outputs) values.push_back(m_from.value(output));
        const auto made = m_to.appendLowered(std::move(copy), std::move(values));
        for (std::size_t i = 0; i < outputs.size(); ++i) m_ids[index(outputs[i])] = made[i];
    }

    Graph finish() {
        for (const auto& assignment : m_from.assignments()) {
            m_to.assign(*m_ids[index(assignment.buffer)], *m_ids[index(assignment.value)]);
        }
        for (const auto& output : m_from.outputs()) m_to.addOutput(output.name, *m_ids[index(output.value)]);
        for (const ValueId parameter : m_from.withRole(ValueRole::Parameter)) {
            if (const auto gradient = m_from.gradientOf(parameter)) {
                m_to.setGradient(*m_ids[index(parameter)], *m_ids[index(*gradient)]);
            }
        }
        return std::move(m_to);
    }

private:
    void addRoot(ValueId id) {
        const Value& value = m_from.value(id);
        switch (value.role) {
            case ValueRole::Input: m_ids[index(id)] = m_to.addInput(value.name, value.type); break;
            case ValueRole::Parameter:
                m_ids[index(id)] = m_to.addParameter(value.name, value.type, value.init, value.decays);
                break;
            case ValueRole::Frozen: m_ids[index(id)] = m_to.addFrozen(value.name, value.type, value.init); break;
            case ValueRole::Buffer: m_ids[index(id)] = m_to.addBuffer(value.name, value.type, value.init); break;
            case ValueRole::Intermediate: break;
        }
    }

    const Graph& m_from;
    Graph m_to;
    std::vector<std::optional<ValueId>> m_ids;
};

void requireKernel(const Node& node, const std::vector<std::string_view>& kernels) {
    if (node.op->isView || std::ranges::find(kernels, node.op->name) != kernels.end()) return;
    throw EngineError(EngineError::Kind::Device, std::string(node.op->name) + " " + node.scope,
                      "the CUDA backend has no kernel for this operation yet; train this model on cpu devices");
}

}  // namespace

const OpDef kCudaDenseRelu{"cuda_dense_relu", inferDenseRelu};

const std::vector<std::string_view>& cudaKernelNames() {
    static const std::vector<std::string_view> names{
        "dense", "dense_backward_data", "dense_backward_weights", "dense_backward_bias", "cuda_dense_relu",
        "relu", "relu_backward", "add", "fill", "dropout", "dropout_backward",
        "cross_entropy", "cross_entropy_backward", "top_k_count"};
    return names;
}

Graph lowerForCuda(const Graph& graph, const std::vector<std::string_view>& kernels) {
    refuseHalves(graph, "cuda");
    Copy copy(graph);
    std::vector<bool> fused(graph.nodes().size(), false);
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        if (fused[i]) continue;
        const auto relu = node.op->name == "dense" && node.inputs.size() == 3 ? soleRelu(graph, node) : std::nullopt;
        if (relu) {
            fused[index(*relu)] = true;
            copy.node(node, kCudaDenseRelu, graph.node(*relu).outputs);
        } else {
            requireKernel(node, kernels);
            copy.node(node, *node.op, node.outputs);
        }
    }
    return copy.finish();
}

}  // namespace lockstep
