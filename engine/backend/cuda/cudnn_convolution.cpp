#include "engine/backend/cuda/cudnn_convolution.h"

#include <array>
#include <vector>

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

// What lies on the card, in the order in which convolutionGraph() names it.
class CudnnConvolution final : public Convolution {
public:
    CudnnConvolution(std::unique_ptr<CudnnPlan> plan, const ConvolutionShape& shape)
        : m_plan(std::move(plan)), m_shape(shape) {}
    std::size_t workspaceBytes() const override { return m_plan->workspaceBytes(); }

    void run(const ConvolutionOperands& of, std::byte* workspace, cudaStream_t stream) override {
        m_memory = {of.x, of.w, of.y};
        const auto add = [&](const void* from) { m_memory.push_back(const_cast<void*>(from)); };
        if (m_shape.normalised) {
            const auto* const factors = static_cast<const std::byte*>(of.factors);
            add(factors);
            add(factors + static_cast<std::size_t>(m_shape.x[1]) * sizeOf(m_shape.dtype));
        }
        if (m_shape.bias) add(of.bias);
        if (m_shape.sums) {
            add(of.sums);
            add(of.sums + m_shape.y[1]);
        }
        if (m_shape.normGradient) {
            const std::int64_t channels = m_shape.x[1];
            for (const void* each :
                 {of.norm.input, static_cast<const void*>(of.norm.mean), static_cast<const void*>(of.norm.invStd),
                  static_cast<const void*>(of.norm.gamma), static_cast<const void*>(of.norm.beta)})
                add(each);
            for (int i = 0; i < 2; ++i) add(of.norm.sums + i * channels);
            for (int i = 0; i < 3; ++i) add(of.norm.scratch + i * channels);
        }
        m_plan->run(m_memory, workspace, stream);
    }

private:
    std::unique_ptr<CudnnPlan> m_plan;
    ConvolutionShape m_shape;
    std::vector<void*> m_memory;  // of the last run
};

// What one operation makes of images for the next.
CudnnDescriptor between(CudnnGraph& graph, const CudnnGraph::Extents& extents, cudnnDataType_t type) {
    return graph.between(extents, channelsLast(extents), type);
}

CudnnDescriptor byChannel(CudnnGraph& graph, std::int64_t channels, cudnnDataType_t type) {
    return graph.memory({1, channels, 1, 1}, {channels, 1, channels, channels}, type);
}

// ReLU(scale x + shift), as the convolution reads it. The library has engines for f32 in between where y is made, for
// f16 where dw is.
CudnnDescriptor normalised(CudnnGraph& graph, const ConvolutionShape& shape, const CudnnDescriptor& x) {
    const cudnnDataType_t type = cudnnTypeOf(shape.dtype);
    const cudnnDataType_t wide = shape.pass == ConvolutionShape::Pass::Forward ? CUDNN_DATA_FLOAT : type;
    const CudnnDescriptor scale = byChannel(graph, shape.x[1], type), shift = byChannel(graph, shape.x[1], type);
    const CudnnDescriptor scaled = between(graph, shape.x, wide), shifted = between(graph, shape.x, wide),
                          read = between(graph, shape.x, type);
    graph.pointwise(CUDNN_POINTWISE_MUL, {x, scale}, scaled);
    graph.pointwise(CUDNN_POINTWISE_ADD, {scaled, shift}, shifted);
    graph.pointwise(CUDNN_POINTWISE_RELU_FWD, {shifted}, read);
    return read;
}

// What follows the convolution, in f32: [+ bias] [ReLU].
void addEpilogue(CudnnGraph& graph, const ConvolutionShape& shape, CudnnDescriptor sums, const CudnnDescriptor& y) {
    if (shape.bias) {
        const CudnnDescriptor bias = byChannel(graph, shape.y[1], cudnnTypeOf(shape.dtype));
        const CudnnDescriptor biased = shape.relu ? between(graph, shape.y, CUDNN_DATA_FLOAT) : y;
        graph.pointwise(CUDNN_POINTWISE_ADD, {sums, bias}, biased);
        sums = biased;
    }
    if (shape.relu) graph.pointwise(CUDNN_POINTWISE_RELU_FWD, {sums}, y);
}

// dx = that of the convolution where the norm's output was positive, and the sums over it.
void addNormGradient(CudnnGraph& graph, const ConvolutionShape& shape, const CudnnDescriptor& gradient,
                     const CudnnDescriptor& dx) {
    const auto channel = [&] { return byChannel(graph, shape.x[1], CUDNN_DATA_FLOAT); };
    const auto wide = [&] { return between(graph, shape.x, CUDNN_DATA_FLOAT); };
    const CudnnDescriptor input = graph.memory(shape.x, channelsLast(shape.x), cudnnTypeOf(shape.dtype));
    const CudnnGraph::Norm norm{input, channel(), channel(), channel()};
    const CudnnDescriptor beta = channel(), dgamma = channel(), dbeta = channel();
    const std::array further{channel(), channel(), channel()};
    const CudnnDescriptor centred = wide(), normal = wide(), scaled = wide(), output = wide();
    graph.pointwise(CUDNN_POINTWISE_SUB, {input, norm.mean}, centred);
    graph.pointwise(CUDNN_POINTWISE_MUL, {centred, norm.invStd}, normal);
    graph.pointwise(CUDNN_POINTWISE_MUL, {normal, norm.gamma}, scaled);
    graph.pointwise(CUDNN_POINTWISE_ADD, {scaled, beta}, output);
    graph.reluBackward(gradient, output, dx);
    graph.normGradients(norm, dx, dgamma, dbeta, further);
}

}  // namespace

CudnnGraph convolutionGraph(const ConvolutionShape& shape) {
    CudnnGraph graph(describe(shape), shape.dtype == DType::F32 && !shape.tf32);
    const Names& names = kNames[static_cast<std::size_t>(shape.pass)];
    const cudnnDataType_t type = cudnnTypeOf(shape.dtype);
    const CudnnDescriptor x = graph.memory(shape.x, channelsLast(shape.x), type),
                          w = graph.memory(shape.w, channelsLast(shape.w), type),
                          y = graph.memory(shape.y, channelsLast(shape.y), type);
    CudnnDescriptor ofX = x, ofY = y;  // as the convolution has them
    if (shape.normalised) ofX = normalised(graph, shape, x);
    if (shape.normGradient) ofX = between(graph, shape.x, CUDNN_DATA_FLOAT);
    if (shape.bias || shape.relu) ofY = between(graph, shape.y, CUDNN_DATA_FLOAT);
    CudnnDescriptor operation(names.operation);
    operation.set(names.x, ofX)
        .set(names.w, w)
        .set(names.y, ofY)
        .set(names.convolution, convolution(shape))
        .set(names.alpha, 1.0f)
        .set(names.beta, 0.0f);
    graph.add(operation.finalize("cuDNN " + graph.key()));
    addEpilogue(graph, shape, ofY, y);
    if (shape.sums) {
        const CudnnDescriptor sum = byChannel(graph, shape.y[1], CUDNN_DATA_FLOAT),
                              squares = byChannel(graph, shape.y[1], CUDNN_DATA_FLOAT);
        graph.sums(y, sum, squares);
    }
    if (shape.normGradient) addNormGradient(graph, shape, ofX, x);
    return graph;
}

std::unique_ptr<Convolution> makeCudnnConvolution(const CudnnPlans& plans, const ConvolutionShape& shape,
                                                  const std::string& where) {
    auto plan = makeCudnnPlan(plans, convolutionGraph(shape), where);
    return plan ? std::make_unique<CudnnConvolution>(std::move(plan), shape) : nullptr;
}

}  // namespace lockstep::cuda
