#include "engine/backend/cuda/cudnn_convolution.h"

#include <array>
#include <optional>

namespace lockstep::cuda {

namespace {

CudnnGraph::Extents channelsLast(const CudnnGraph::Extents& extents) {
    const auto [n, c, h, w] = extents;
    return {c * h * w, 1, w * c, c};
}

CudnnDescriptor convolution(const ConvolutionShape& shape) {
    CudnnDescriptor made(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    made.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2})
        .set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT)
        .set<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, {&mode, 1})
        .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, std::span<const std::int64_t>(shape.padding))
        .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, std::span<const std::int64_t>(shape.padding))
        .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, std::span<const std::int64_t>(shape.dilation))
        .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, std::span<const std::int64_t>(shape.stride));
    return made.finalize("cuDNN convolution");
}

// The names that the operation has for its parts in each pass.
struct Names {
    cudnnBackendDescriptorType_t operation;
    cudnnBackendAttributeName_t x, w, y, convolution, alpha, beta;
};
constexpr std::array<Names, 3> kNames{{
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
}};

class CudnnConvolution final : public Convolution {
public:
    CudnnConvolution(std::unique_ptr<CudnnPlan> plan, bool bias) : m_plan(std::move(plan)), m_bias(bias) {}
    std::size_t workspaceBytes() const override { return m_plan->workspaceBytes(); }
    void run(const ConvolutionOperands& of, std::byte* workspace, cudaStream_t stream) override {
        if (!m_bias) return m_plan->run(std::array{of.x, of.w, of.y}, workspace, stream);
        m_plan->run(std::array{of.x, of.w, const_cast<void*>(of.bias), of.y}, workspace, stream);
    }

private:
    std::unique_ptr<CudnnPlan> m_plan;
    bool m_bias;
};

// What follows the convolution, in f32: [+ bias] [ReLU].
void addEpilogue(CudnnGraph& graph, const ConvolutionShape& shape, CudnnDescriptor sums,
                 const std::optional<CudnnDescriptor>& bias, const CudnnDescriptor& y) {
    if (bias) {
        const CudnnDescriptor biased = shape.relu ? graph.between(shape.y, channelsLast(shape.y), CUDNN_DATA_FLOAT) : y;
        graph.pointwise(CUDNN_POINTWISE_ADD, {sums, *bias}, biased);
        sums = biased;
    }
    if (shape.relu) graph.pointwise(CUDNN_POINTWISE_RELU_FWD, {sums}, y);
}

}  // namespace

CudnnGraph convolutionGraph(const ConvolutionShape& shape) {
    CudnnGraph graph(describe(shape), shape.dtype == DType::F32 && !shape.tf32);
    const Names& names = kNames[static_cast<std::size_t>(shape.pass)];
    const cudnnDataType_t type = cudnnTypeOf(shape.dtype);
    const CudnnDescriptor x = graph.memory(shape.x, channelsLast(shape.x), type),
                          w = graph.memory(shape.w, channelsLast(shape.w), type);
    std::optional<CudnnDescriptor> bias;
    const std::int64_t filters = shape.w[0];
    if (shape.bias) bias = graph.memory({1, filters, 1, 1}, {filters, 1, filters, filters}, type);
    const CudnnDescriptor y = graph.memory(shape.y, channelsLast(shape.y), type);
    const bool isLast = !shape.bias && !shape.relu;
    const CudnnDescriptor sums = isLast ? y : graph.between(shape.y, channelsLast(shape.y), CUDNN_DATA_FLOAT);
    CudnnDescriptor operation(names.operation);
    operation.set(names.x, x)
        .set(names.w, w)
        .set(names.y, sums)
        .set(names.convolution, convolution(shape))
        .set(names.alpha, 1.0f)
        .set(names.beta, 0.0f);
    graph.add(operation.finalize("cuDNN " + graph.key()));
    addEpilogue(graph, shape, sums, bias, y);
    return graph;
}

std::unique_ptr<Convolution> makeCudnnConvolution(const Cudnn& library, PlanCache& cache, const ConvolutionShape& shape,
                                                  const std::string& where) {
    auto plan = makeCudnnPlan(library, cache, convolutionGraph(shape), where);
    return plan ? std::make_unique<CudnnConvolution>(std::move(plan), shape.bias) : nullptr;
}

}  // namespace lockstep::cuda
