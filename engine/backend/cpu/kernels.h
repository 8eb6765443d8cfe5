#pragma once
#include <memory>
#include <span>

#include "engine/backend/body_kernel.h"
#include "engine/backend/cpu/layout.h"
#include "engine/backend/cpu/onednn.h"
#include "engine/backend/cpu/simd/table.h"
#include "engine/core/error.h"
#include "engine/graph/graph.h"
#include "engine/ops/update.h"

// The kernels of the CPU, one file per family of ops. All is settled when a kernel is made; run() allocates nothing.
namespace lockstep::cpu {

// The algorithm of a node whose product is the library's: library_product.h.
inline constexpr const char* kLibraryBf16 = "library+bf16";

// What a device has and its kernels use. Outlives them.
struct Machine {
    onednn::Engine engine;
    const SimdTable* simd = nullptr;
    const Bf16Table* bf16 = nullptr;  // null: the processor has no instructions for it
    bool multipliesPairs = false;     // of bf16, which it has: else products of bf16 are those of rounded floats
    GemmRows gemmRows;                // Bf16Table's, or with tiles; multiply is null: neither is there
    int threads = 1;
};

// Products of rows by the thread that it is made on, while it is there.
class RowProducts {
public:
    explicit RowProducts(const GemmRows& rows) : m_rows(rows) { m_rows.begin(); }
    ~RowProducts() { m_rows.end(); }
    RowProducts(const RowProducts&) = delete;
    RowProducts& operator=(const RowProducts&) = delete;
    void multiply(const GemmRun& run, std::size_t panelStride = 0) const { m_rows.multiply(run, panelStride); }

private:
    const GemmRows& m_rows;
};

// A node whose kernel is to be made.
struct Order {
    const Machine& machine;
    const Graph& graph;
    const Node& node;

    const Value& input(std::size_t i) const { return graph.value(node.inputs[i]); }
    const Value& output(std::size_t i) const { return graph.value(node.outputs[i]); }
    bool isRead(std::size_t output) const;  // by another node, or as an output of the graph
    std::string where() const { return std::string(node.op->name) + " " + node.scope; }
};

struct KernelEntry {
    const OpDef* op;
    std::unique_ptr<Kernel> (*make)(const Order& order);
};
const KernelEntry* findKernel(const OpDef& op);  // null when there is none; a view has none

template <class T = float>
const T* in(const KernelCall& call, std::size_t i) {
    return reinterpret_cast<const T*>(call.inputs[i]);
}
template <class T = float>
T* out(const KernelCall& call, std::size_t i) {
    return reinterpret_cast<T*>(call.outputs[i]);
}

// make(T()): a kernel of images or rows of T, which are of floats or of bf16.
template <class Make>
std::unique_ptr<Kernel> forElementsOf(const Value& value, const Make& make) {
    return value.type.dtype == DType::BF16 ? make(Bf16()) : make(float());
}

// conv2d.cpp
std::unique_ptr<Kernel> makeConv2d(const Order& order);  // also with ReLU
std::unique_ptr<Kernel> makeConv2dBackwardData(const Order& order);
std::unique_ptr<Kernel> makeConv2dBackwardWeights(const Order& order);  // also with the bias
std::unique_ptr<Kernel> makeConv2dBackwardBias(const Order& order);
// Whether the library, which makes a convolution of kDirectBf16, does so faster than by plain loops. It plans for the
// calling thread's team (TeamOf).
bool isLibrarysFast(const Order& order);
// Over samples and pixels, of floats or of bf16.
template <class T>
void sumChannels(const Machine& machine, const ChannelRuns& runs, const T* x, float* sums);
// conv2d_lanes.cpp: the same with samples in lanes
std::unique_ptr<Kernel> makeLaneConv(const Order& order);
std::unique_ptr<Kernel> makeLaneConvBackwardData(const Order& order);
std::unique_ptr<Kernel> makeLaneConvBackwardWeights(const Order& order);
// winograd.cpp: the same by Winograd's algorithm
std::unique_ptr<Kernel> makeWinograd(const Order& order);
std::unique_ptr<Kernel> makeWinogradBackwardData(const Order& order);
std::unique_ptr<Kernel> makeWinogradBackwardWeights(const Order& order);
// sample_conv.cpp: the same with samples in the rows of tiles
std::unique_ptr<Kernel> makeSampleConv(const Order& order);
std::unique_ptr<Kernel> makeSampleConvBackwardData(const Order& order);
std::unique_ptr<Kernel> makeSampleConvBackwardWeights(const Order& order);
// gathered_conv.cpp: the same with neighbouring pixels in the rows of tiles
std::unique_ptr<Kernel> makeGatheredConv(const Order& order);
std::unique_ptr<Kernel> makeGatheredConvBackwardData(const Order& order);
std::unique_ptr<Kernel> makeGatheredConvBackwardWeights(const Order& order);
// padded_conv.cpp: the same without strides, from lines of padded pixels
std::unique_ptr<Kernel> makePaddedConv(const Order& order);
std::unique_ptr<Kernel> makePaddedConvBackwardData(const Order& order);
std::unique_ptr<Kernel> makePaddedConvBackwardWeights(const Order& order);
// joined_conv.cpp: the same of pixels that are joined until their channels fill tiles
std::unique_ptr<Kernel> makeJoinedConv(const Order& order);
std::unique_ptr<Kernel> makeJoinedConvBackwardData(const Order& order);
std::unique_ptr<Kernel> makeJoinedConvBackwardWeights(const Order& order);
// pointwise.cpp: the same of one pixel's channels
std::unique_ptr<Kernel> makePointwise(const Order& order);
std::unique_ptr<Kernel> makePointwiseBackwardData(const Order& order);
std::unique_ptr<Kernel> makePointwiseBackwardWeights(const Order& order);
// dense.cpp
std::unique_ptr<Kernel> makeDense(const Order& order);              // also with ReLU, GELU or an addend
std::unique_ptr<Kernel> makeDenseBackwardData(const Order& order);  // also with GELU
std::unique_ptr<Kernel> makeDenseBackwardWeights(const Order& order);
std::unique_ptr<Kernel> makeDenseBackwardBias(const Order& order);
// batch_norm.cpp: plain and fused, and the statistics alone
std::unique_ptr<Kernel> makeNormTrain(const Order& order);
std::unique_ptr<Kernel> makeNormEval(const Order& order);
std::unique_ptr<Kernel> makeNormEvalBackward(const Order& order);
std::unique_ptr<Kernel> makeFoldNorm(const Order& order);
// batch_norm_backward.cpp
std::unique_ptr<Kernel> makeNormBackward(const Order& order);
// synchronised_norm.cpp
std::unique_ptr<Kernel> makeNormSums(const Order& order);
std::unique_ptr<Kernel> makeNormFromSums(const Order& order);
std::unique_ptr<Kernel> makeNormBackwardSums(const Order& order);
std::unique_ptr<Kernel> makeNormBackwardFromSums(const Order& order);
// elementwise.cpp
std::unique_ptr<Kernel> makeRelu(const Order& order);
std::unique_ptr<Kernel> makeReluBackward(const Order& order);
std::unique_ptr<Kernel> makeAdd(const Order& order);
std::unique_ptr<Kernel> makeFill(const Order& order);
std::unique_ptr<Kernel> makeCast(const Order& order);
std::unique_ptr<Kernel> makeReorder(const Order& order);
std::unique_ptr<Kernel> makeFilterPanels(const Order& order);  // null: of other layouts
std::unique_ptr<Kernel> makeScaleFilters(const Order& order);
// pool2d.cpp
std::unique_ptr<Kernel> makeMaxPool2d(const Order& order);
std::unique_ptr<Kernel> makeMaxPool2dBackward(const Order& order);  // also with ReLU
std::unique_ptr<Kernel> makeAveragePool2d(const Order& order);
std::unique_ptr<Kernel> makeAveragePool2dBackward(const Order& order);
std::unique_ptr<Kernel> makeGlobalAveragePool2d(const Order& order);
std::unique_ptr<Kernel> makeGlobalAveragePool2dBackward(const Order& order);
// dropout.cpp: forward and backward are the same mask and factor
std::unique_ptr<Kernel> makeDropout(const Order& order);
// layer_norm.cpp
std::unique_ptr<Kernel> makeLayerNorm(const Order& order);
std::unique_ptr<Kernel> makeLayerNormBackward(const Order& order);  // also with an addend
// activation.cpp
std::unique_ptr<Kernel> makeActivation(const Order& order);
std::unique_ptr<Kernel> makeActivationBackward(const Order& order);
// tokens.cpp
std::unique_ptr<Kernel> makeTranspose(const Order& order);
std::unique_ptr<Kernel> makeBroadcastAdd(const Order& order);
std::unique_ptr<Kernel> makePad(const Order& order);
std::unique_ptr<Kernel> makeSequenceMean(const Order& order);
std::unique_ptr<Kernel> makeSequenceMeanBackward(const Order& order);
// pixels.cpp
std::unique_ptr<Kernel> makePixelsToImages(const Order& order);
// embedding.cpp
std::unique_ptr<Kernel> makeEmbedding(const Order& order);
std::unique_ptr<Kernel> makeEmbeddingBackward(const Order& order);
// library_dense.cpp: the same by the library, of rows of bf16
std::unique_ptr<Kernel> makeLibraryDense(const Order& order);
std::unique_ptr<Kernel> makeLibraryDenseBackwardData(const Order& order);
std::unique_ptr<Kernel> makeLibraryDenseBackwardWeights(const Order& order);
// How the weights w of a node with rows x of bf16 lie best, of bf16, too.
onednn::Desc libraryWeights(const onednn::Engine& engine, const Node& node, const Shape& x, const Shape& w);
// Over rows, of floats or of bf16.
template <class T>
void sumColumns(const Machine& machine, const T* rows, std::size_t count, std::size_t columns, float* sums);
// attention.cpp
std::unique_ptr<Kernel> makeAttention(const Order& order);
std::unique_ptr<Kernel> makeAttentionBackward(const Order& order);
// attention_halves.cpp: the same of operands rounded to bf16
std::unique_ptr<Kernel> makeHalfAttention(const Order& order);
std::unique_ptr<Kernel> makeHalfAttentionBackward(const Order& order);
// loss.cpp
std::unique_ptr<Kernel> makeCrossEntropy(const Order& order);
std::unique_ptr<Kernel> makeCrossEntropyBackward(const Order& order);
std::unique_ptr<Kernel> makeTopKCount(const Order& order);
// mixed_loss.cpp
std::unique_ptr<Kernel> makeMixedCrossEntropy(const Order& order);
std::unique_ptr<Kernel> makeMixedCrossEntropyBackward(const Order& order);
// update.cpp: the flat steps (see Device), on f32; fills, scales and adds also on f64
std::unique_ptr<Kernel> makeFlatFill(const Machine& machine, DType dtype, std::size_t count, double value);
std::unique_ptr<Kernel> makeFlatScale(const Machine& machine, DType dtype, std::size_t count, double factor);
std::unique_ptr<Kernel> makeFlatAdd(const Machine& machine, DType dtype, std::size_t count);
std::unique_ptr<Kernel> makeSquareSum(const Machine& machine, std::size_t count);
std::unique_ptr<Kernel> makeGate(const UpdateRule& rule, std::size_t squareSums);
std::unique_ptr<Kernel> makeUpdate(const Machine& machine, const UpdateRule& rule, std::size_t count,
                                   std::span<const UpdateSegment> segments);
std::unique_ptr<Kernel> makeAverage(const Machine& machine, double decay, std::size_t count);
std::unique_ptr<Kernel> makeCommit(const Machine& machine, std::size_t count);

}  // namespace lockstep::cpu
