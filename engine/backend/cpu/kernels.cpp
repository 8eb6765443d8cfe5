#include "engine/backend/cpu/kernels.h"

#include <algorithm>
#include <array>

#include "engine/backend/cpu/fused_ops.h"
#include "engine/core/joined.h"
#include "engine/ops/activation.h"
#include "engine/ops/attention.h"
#include "engine/ops/conv2d.h"
#include "engine/ops/dense.h"
#include "engine/ops/dropout.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/embedding.h"
#include "engine/ops/layer_norm.h"
#include "engine/ops/loss.h"
#include "engine/ops/mixed_loss.h"
#include "engine/ops/pixels.h"
#include "engine/ops/pool2d.h"
#include "engine/ops/synchronised_norm.h"
#include "engine/ops/tokens.h"

namespace lockstep::cpu {

namespace {

constexpr auto kListed = std::to_array<KernelEntry>({
    {&kConv2d, makeConv2d},
    {&kConv2dRelu, makeConv2d},
    {&kConv2dFolded, makeConv2d},
    {&kConv2dScaled, makeConv2d},
    {&kConv2dFused, makeConv2d},
    {&kConv2dBackwardData, makeConv2dBackwardData},
    {&kConv2dBackwardWeights, makeConv2dBackwardWeights},
    {&kConv2dBackwardWeightsBias, makeConv2dBackwardWeights},
    {&kConv2dBackwardWeightsNormed, makeConv2dBackwardWeights},
    {&kConv2dBackwardBias, makeConv2dBackwardBias},
    {&kDense, makeDense},
    {&kDenseRelu, makeDense},
    {&kDenseAdd, makeDense},
    {&kDenseGelu, makeDense},
    {&kDenseBackwardData, makeDenseBackwardData},
    {&kDenseBackwardDataGelu, makeDenseBackwardData},
    {&kDenseBackwardWeights, makeDenseBackwardWeights},
    {&kDenseBackwardWeightsBias, makeDenseBackwardWeights},
    {&kDenseBackwardBias, makeDenseBackwardBias},
    {&kBatchNormTrain, makeNormTrain},
    {&kNormTrain, makeNormTrain},
    {&kNormStatistics, makeNormTrain},
    {&kBatchNormEval, makeNormEval},
    {&kBatchNormEvalBackward, makeNormEvalBackward},
    {&kNormEval, makeNormEval},
    {&kBatchNormBackward, makeNormBackward},
    {&kNormBackward, makeNormBackward},
    {&kBatchNormSums, makeNormSums},
    {&kBatchNormTrainFromSums, makeNormFromSums},
    {&kBatchNormBackwardSums, makeNormBackwardSums},
    {&kBatchNormBackwardFromSums, makeNormBackwardFromSums},
    {&kRelu, makeRelu},
    {&kReluBackward, makeReluBackward},
    {&kRelu6, makeRelu},
    {&kRelu6Backward, makeReluBackward},
    {&kAdd, makeAdd},
    {&kFill, makeFill},
    {&kCast, makeCast},
    {&kReorder, makeReorder},
    {&kScaleFilters, makeScaleFilters},
    {&kFoldNorm, makeFoldNorm},
    {&kMaxPool2d, makeMaxPool2d},
    {&kMaxPool2dBackward, makeMaxPool2dBackward},
    {&kMaxPool2dBackwardRelu, makeMaxPool2dBackward},
    {&kAveragePool2d, makeAveragePool2d},
    {&kAveragePool2dBackward, makeAveragePool2dBackward},
    {&kGlobalAveragePool2d, makeGlobalAveragePool2d},
    {&kGlobalAveragePool2dBackward, makeGlobalAveragePool2dBackward},
    {&kDropout, makeDropout},
    {&kDropoutBackward, makeDropout},
    {&kPixelsToImages, makePixelsToImages},
    {&kLayerNorm, makeLayerNorm},
    {&kLayerNormBackward, makeLayerNormBackward},
    {&kLayerNormBackwardAdd, makeLayerNormBackward},
    {&kTranspose, makeTranspose},
    {&kBroadcastAdd, makeBroadcastAdd},
    {&kPad, makePad},
    {&kSequenceMean, makeSequenceMean},
    {&kSequenceMeanBackward, makeSequenceMeanBackward},
    {&kEmbedding, makeEmbedding},
    {&kEmbeddingBackward, makeEmbeddingBackward},
    {&kAttention, makeAttention},
    {&kAttentionBackward, makeAttentionBackward},
    {&kCrossEntropy, makeCrossEntropy},
    {&kCrossEntropyBackward, makeCrossEntropyBackward},
    {&kTopKCount, makeTopKCount},
    {&kMixedCrossEntropy, makeMixedCrossEntropy},
    {&kMixedCrossEntropyBackward, makeMixedCrossEntropyBackward},
});
constexpr auto kKernels = joined(kListed, activationEntries<KernelEntry>(makeActivation, makeActivationBackward));

}  // namespace

const KernelEntry* findKernel(const OpDef& op) {
    const auto* found = std::ranges::find(kKernels, &op, &KernelEntry::op);
    return found == kKernels.end() ? nullptr : found;
}

bool Order::isRead(std::size_t output) const {
    const ValueId value = node.outputs[output];
    const auto reads = [&](const Node& other) { return std::ranges::count(other.inputs, value) > 0; };
    return std::ranges::any_of(graph.nodes(), reads) ||
           std::ranges::count(graph.outputs(), value, &Graph::Output::value) > 0;
}

}  // namespace lockstep::cpu
