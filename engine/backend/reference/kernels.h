#pragma once
#include <memory>
#include <span>

#include "engine/backend/kernel.h"
#include "engine/graph/graph.h"
#include "engine/ops/update.h"

// The reference backend is the definition of every op in plain loops: floats are F64, tensors are row-major, and
// nothing is done for speed that would have to be explained. All other backends are tested against it. A view has no
// kernel.
namespace lockstep::reference {

// Prepares the kernel of one node. Shapes and attributes are settled here; run() is only the loops.
using MakeKernel = std::unique_ptr<Kernel> (*)(const Graph& graph, const Node& node);
struct KernelEntry {
    const OpDef* op;
    MakeKernel make;
};
std::span<const KernelEntry> kernelList();
const KernelEntry* findKernel(const OpDef& op);  // null when there is none

// conv2d.cpp
std::unique_ptr<Kernel> makeConv2d(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeConv2dBackwardData(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeConv2dBackwardWeights(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeConv2dBackwardBias(const Graph& graph, const Node& node);

// pool2d.cpp
std::unique_ptr<Kernel> makeMaxPool2d(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeMaxPool2dBackward(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeAveragePool2d(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeAveragePool2dBackward(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeGlobalAveragePool2d(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeGlobalAveragePool2dBackward(const Graph& graph, const Node& node);

// dense.cpp
std::unique_ptr<Kernel> makeDense(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeDenseBackwardData(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeDenseBackwardWeights(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeDenseBackwardBias(const Graph& graph, const Node& node);

// batch_norm.cpp
std::unique_ptr<Kernel> makeBatchNormTrain(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeBatchNormEval(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeBatchNormEvalBackward(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeBatchNormBackward(const Graph& graph, const Node& node);

// synchronised_norm.cpp
std::unique_ptr<Kernel> makeBatchNormSums(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeBatchNormTrainFromSums(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeBatchNormBackwardSums(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeBatchNormBackwardFromSums(const Graph& graph, const Node& node);

// elementwise.cpp
std::unique_ptr<Kernel> makeRelu(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeReluBackward(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeRelu6(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeRelu6Backward(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeAdd(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeFillNode(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeCast(const Graph& graph, const Node& node);

// dropout.cpp: forward and backward are the same mask and factor
std::unique_ptr<Kernel> makeDropout(const Graph& graph, const Node& node);

// layer_norm.cpp
std::unique_ptr<Kernel> makeLayerNorm(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeLayerNormBackward(const Graph& graph, const Node& node);

// activation.cpp
std::unique_ptr<Kernel> makeActivation(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeActivationBackward(const Graph& graph, const Node& node);

// tokens.cpp
std::unique_ptr<Kernel> makeTranspose(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeBroadcastAdd(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makePad(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeSequenceMean(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeSequenceMeanBackward(const Graph& graph, const Node& node);

// pixels.cpp
std::unique_ptr<Kernel> makePixelsToImages(const Graph& graph, const Node& node);

// embedding.cpp
std::unique_ptr<Kernel> makeEmbedding(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeEmbeddingBackward(const Graph& graph, const Node& node);

// attention.cpp
std::unique_ptr<Kernel> makeAttention(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeAttentionBackward(const Graph& graph, const Node& node);

// loss.cpp
std::unique_ptr<Kernel> makeCrossEntropy(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeCrossEntropyBackward(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeTopKCount(const Graph& graph, const Node& node);

// mixed_loss.cpp
std::unique_ptr<Kernel> makeMixedCrossEntropy(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeMixedCrossEntropyBackward(const Graph& graph, const Node& node);

// update.cpp: the flat steps (see Device); elements are F64
std::unique_ptr<Kernel> makeFill(std::size_t count, double value);
std::unique_ptr<Kernel> makeScale(std::size_t count, double factor);
std::unique_ptr<Kernel> makeFlatAdd(std::size_t count);
std::unique_ptr<Kernel> makeSquareSum(std::size_t count);
std::unique_ptr<Kernel> makeGate(const UpdateRule& rule, std::size_t squareSums);
std::unique_ptr<Kernel> makeUpdate(const UpdateRule& rule, std::span<const UpdateSegment> segments);
std::unique_ptr<Kernel> makeAverage(double decay, std::size_t count);
std::unique_ptr<Kernel> makeCommit(std::size_t count);

}  // namespace lockstep::reference
