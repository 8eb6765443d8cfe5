#pragma once
#include <memory>
#include <span>
#include <string>

#include "engine/backend/cuda/cuda_stream.h"
#include "engine/backend/kernel.h"
#include "engine/graph/graph.h"
#include "engine/ops/update.h"

// The kernels of cards, one file per family of ops, for f32, f16 and bf16. All is settled when a kernel is made; run()
// puts it on the stream.
namespace lockstep::cuda {

class CudaDevice;

// A node whose kernel is to be made.
struct Order {
    CudaDevice& device;
    const Graph& graph;
    const Node& node;

    const Value& input(std::size_t i) const { return graph.value(node.inputs[i]); }
    const Value& output(std::size_t i) const { return graph.value(node.outputs[i]); }
    const Shape& inputShape(std::size_t i) const { return input(i).type.shape; }
    const Shape& outputShape(std::size_t i) const { return output(i).type.shape; }
    std::string where() const { return std::string(node.op->name) + " " + node.scope; }
};

struct KernelEntry {
    const OpDef* op;
    std::unique_ptr<Kernel> (*make)(const Order& order);
};
const KernelEntry* findKernel(const OpDef& op);  // null when there is none; a view has none

// A kernel that is one function of (call, stream).
template <class Launch>
class LaunchKernel final : public Kernel {
public:
    LaunchKernel(std::string where, Launch launch, std::size_t workspace)
        : m_where(std::move(where)), m_launch(std::move(launch)), m_workspace(workspace) {}
    std::size_t workspaceBytes() const override { return m_workspace; }
    void run(const KernelCall& call) override {
        m_launch(call, CudaStream::of(call.stream));
        check(cudaGetLastError(), m_where);
    }

private:
    std::string m_where;
    Launch m_launch;
    std::size_t m_workspace;
};

template <class Launch>
std::unique_ptr<Kernel> kernelOf(std::string where, Launch launch, std::size_t workspace = 0) {
    return std::make_unique<LaunchKernel<Launch>>(std::move(where), std::move(launch), workspace);
}

template <class T>
const T* in(const KernelCall& call, std::size_t i) {
    return reinterpret_cast<const T*>(call.inputs[i]);
}
template <class T>
T* out(const KernelCall& call, std::size_t i) {
    return reinterpret_cast<T*>(call.outputs[i]);
}

// conv2d.cu
std::unique_ptr<Kernel> makeConv2d(const Order& order);
std::unique_ptr<Kernel> makeConv2dBackwardData(const Order& order);
std::unique_ptr<Kernel> makeConv2dBackwardWeights(const Order& order);

// norm_convolution.cu
std::unique_ptr<Kernel> makeConv2dSums(const Order& order);
std::unique_ptr<Kernel> makeNormFactors(const Order& order);
std::unique_ptr<Kernel> makeNormConv2dBackwardWeights(const Order& order);
std::unique_ptr<Kernel> makeConv2dBackwardDataNorm(const Order& order);
std::unique_ptr<Kernel> makeNormBackwardFromSums(const Order& order);

// pool2d.cu
std::unique_ptr<Kernel> makeMaxPool2d(const Order& order);
std::unique_ptr<Kernel> makeMaxPool2dBackward(const Order& order);
std::unique_ptr<Kernel> makeAveragePool2d(const Order& order);
std::unique_ptr<Kernel> makeAveragePool2dBackward(const Order& order);
std::unique_ptr<Kernel> makeGlobalAveragePool2d(const Order& order);
std::unique_ptr<Kernel> makeGlobalAveragePool2dBackward(const Order& order);

// dense.cu
std::unique_ptr<Kernel> makeDense(const Order& order);
std::unique_ptr<Kernel> makeDenseBackwardData(const Order& order);
std::unique_ptr<Kernel> makeDenseBackwardWeights(const Order& order);
std::unique_ptr<Kernel> makeDenseBackwardWeightsBias(const Order& order);
std::unique_ptr<Kernel> makeBackwardBias(const Order& order);  // of convolutions, too

// batch_norm.cu
std::unique_ptr<Kernel> makeBatchNormTrain(const Order& order);
std::unique_ptr<Kernel> makeBatchNormEval(const Order& order);
std::unique_ptr<Kernel> makeBatchNormEvalBackward(const Order& order);
std::unique_ptr<Kernel> makeBatchNormBackward(const Order& order);

// synchronised_norm.cu
std::unique_ptr<Kernel> makeBatchNormSums(const Order& order);
std::unique_ptr<Kernel> makeBatchNormTrainFromSums(const Order& order);
std::unique_ptr<Kernel> makeBatchNormBackwardSums(const Order& order);
std::unique_ptr<Kernel> makeBatchNormBackwardFromSums(const Order& order);

// elementwise.cu
std::unique_ptr<Kernel> makeRelu(const Order& order);
std::unique_ptr<Kernel> makeReluBackward(const Order& order);
std::unique_ptr<Kernel> makeRelu6(const Order& order);
std::unique_ptr<Kernel> makeRelu6Backward(const Order& order);
std::unique_ptr<Kernel> makeAdd(const Order& order);
std::unique_ptr<Kernel> makeFillNode(const Order& order);
std::unique_ptr<Kernel> makeCast(const Order& order);

// activation.cu
std::unique_ptr<Kernel> makeActivation(const Order& order);
std::unique_ptr<Kernel> makeActivationBackward(const Order& order);

// dropout.cu: forward and backward are the same mask and factor
std::unique_ptr<Kernel> makeDropout(const Order& order);

// layer_norm.cu
std::unique_ptr<Kernel> makeLayerNorm(const Order& order);
std::unique_ptr<Kernel> makeLayerNormBackward(const Order& order);

// tokens.cu
std::unique_ptr<Kernel> makeTranspose(const Order& order);
std::unique_ptr<Kernel> makeBroadcastAdd(const Order& order);
std::unique_ptr<Kernel> makePad(const Order& order);
std::unique_ptr<Kernel> makeSequenceMean(const Order& order);
std::unique_ptr<Kernel> makeSequenceMeanBackward(const Order& order);

// pixels.cu
std::unique_ptr<Kernel> makePixelsToImages(const Order& order);

// embedding.cu
std::unique_ptr<Kernel> makeEmbedding(const Order& order);
std::unique_ptr<Kernel> makeEmbeddingBackward(const Order& order);

// attention.cu
std::unique_ptr<Kernel> makeAttention(const Order& order);
std::unique_ptr<Kernel> makeAttentionBackward(const Order& order);

// loss.cu
std::unique_ptr<Kernel> makeCrossEntropy(const Order& order);  // mixed labels, too
std::unique_ptr<Kernel> makeCrossEntropyBackward(const Order& order);
std::unique_ptr<Kernel> makeTopKCount(const Order& order);

// layout.cu
std::unique_ptr<Kernel> makeReorder(const Order& order);

// flat_steps.cu: see Device
std::unique_ptr<Kernel> makeFill(DType dtype, std::size_t count, double value);
std::unique_ptr<Kernel> makeScale(DType dtype, std::size_t count, double factor);
std::unique_ptr<Kernel> makeFlatAdd(DType dtype, std::size_t count);
std::unique_ptr<Kernel> makeSquareSum(DType dtype, std::size_t count);
std::unique_ptr<Kernel> makeGate(CudaDevice& device, const UpdateRule& rule, std::size_t squareSums);
std::unique_ptr<Kernel> makeNarrow(DType dtype, std::size_t count);
std::unique_ptr<Kernel> makeCommit(DType dtype, std::size_t count);

// update.cu
std::unique_ptr<Kernel> makeUpdate(CudaDevice& device, const UpdateRule& rule, DType dtype,
                                   std::span<const UpdateSegment> segments);
std::unique_ptr<Kernel> makeAverage(CudaDevice& device, double decay, DType dtype, std::size_t count);

}  // namespace lockstep::cuda
