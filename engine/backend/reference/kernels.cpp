#include "engine/backend/reference/kernels.h"

#include <algorithm>
#include <array>

#include "engine/core/joined.h"
#include "engine/ops/activation.h"
#include "engine/ops/attention.h"
#include "engine/ops/batch_norm.h"
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

namespace lockstep::reference {

namespace {

constexpr auto kListed = std::to_array<KernelEntry>({
    {&kConv2d, makeConv2d},
    {&kConv2dBackwardData, makeConv2dBackwardData},
    {&kConv2dBackwardWeights, makeConv2dBackwardWeights},
    {&kConv2dBackwardBias, makeConv2dBackwardBias},
    {&kMaxPool2d, makeMaxPool2d},
    {&kMaxPool2dBackward, makeMaxPool2dBackward},
    {&kAveragePool2d, makeAveragePool2d},
    {&kAveragePool2dBackward, makeAveragePool2dBackward},
    {&kGlobalAveragePool2d, makeGlobalAveragePool2d},
    {&kGlobalAveragePool2dBackward, makeGlobalAveragePool2dBackward},
    {&kDense, makeDense},
    {&kDenseBackwardData, makeDenseBackwardData},
    {&kDenseBackwardWeights, makeDenseBackwardWeights},
    {&kDenseBackwardBias, makeDenseBackwardBias},
    {&kBatchNormTrain, makeBatchNormTrain},
    {&kBatchNormEval, makeBatchNormEval},
    {&kBatchNormEvalBackward, makeBatchNormEvalBackward},
    {&kBatchNormBackward, makeBatchNormBackward},
    {&kBatchNormSums, makeBatchNormSums},
    {&kBatchNormTrainFromSums, makeBatchNormTrainFromSums},
    {&kBatchNormBackwardSums, makeBatchNormBackwardSums},
    {&kBatchNormBackwardFromSums, makeBatchNormBackwardFromSums},
    {&kRelu, makeRelu},
    {&kReluBackward, makeReluBackward},
    {&kRelu6, makeRelu6},
    {&kRelu6Backward, makeRelu6Backward},
    {&kAdd, makeAdd},
    {&kFill, makeFillNode},
    {&kCast, makeCast},
    {&kDropout, makeDropout},
    {&kDropoutBackward, makeDropout},
    {&kPixelsToImages, makePixelsToImages},
    {&kLayerNorm, makeLayerNorm},
    {&kLayerNormBackward, makeLayerNormBackward},
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

std::span<const KernelEntry> kernelList() { return kKernels; }

const KernelEntry* findKernel(const OpDef& op) {
    const auto* found =
        std::find_if(kKernels.begin(), kKernels.end(), [&](const KernelEntry& e) { return e.op == &op; });
    return found == kKernels.end() ? nullptr : found;
}

}  // namespace lockstep::reference
