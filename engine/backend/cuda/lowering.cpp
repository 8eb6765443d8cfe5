#include "engine/backend/cuda/lowering.h"

#include <algorithm>
#include <optional>

#include "engine/backend/backend.h"
#include "engine/core/error.h"
#include "engine/graph/graph_copy.h"

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
    GraphCopy copy(graph);
    std::vector<bool> fused(graph.nodes().size(), false);
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        if (fused[i]) continue;
        const auto relu = node.op->name == "dense" && node.inputs.size() == 3 ? soleRelu(graph, node) : std::nullopt;
        if (relu) {
            fused[index(*relu)] = true;
            Node both = node;
            both.op = &kCudaDenseRelu;
            copy.append(std::move(both), graph.node(*relu).outputs);
        } else {
            requireKernel(node, kernels);
            copy.append(node, node.outputs);
        }
    }
    return copy.finish();
}

}  // namespace lockstep
