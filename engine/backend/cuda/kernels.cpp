#include "engine/backend/cuda/kernels.h"

#include <algorithm>
#include <array>

#include "engine/backend/cuda/fused_ops.h"
#include "engine/backend/fusion/fused_ops.h"
#include "engine/core/joined.h"
#include "engine/ops/all_ops.h"

namespace lockstep::cuda {

namespace {

constexpr auto kListed = std::to_array<KernelEntry>({
    {&kConv2d, makeConv2d},
    {&kConv2dRelu, makeConv2d},
    {&kConv2dBackwardData, makeConv2dBackwardData},
    {&kConv2dBackwardWeights, makeConv2dBackwardWeights},
    {&kConv2dBackwardBias, makeBackwardBias},
    {&kConv2dSums, makeConv2dSums},
    {&kNormConv2dSums, makeConv2dSums},
    {&kNormFactors, makeNormFactors},
    {&kNormConv2dBackwardWeights, makeNormConv2dBackwardWeights},
    {&kConv2dBackwardDataNorm, makeConv2dBackwardDataNorm},
    {&kNormBackwardFromSums, makeNormBackwardFromSums},
    {&kMaxPool2d, makeMaxPool2d},
    {&kMaxPool2dBackward, makeMaxPool2dBackward},
    {&kAveragePool2d, makeAveragePool2d},
    {&kAveragePool2dBackward, makeAveragePool2dBackward},
    {&kGlobalAveragePool2d, makeGlobalAveragePool2d},
    {&kGlobalAveragePool2dBackward, makeGlobalAveragePool2dBackward},
    {&kDense, makeDense},
    {&kDenseRelu, makeDense},
    {&kDenseAdd, makeDense},
    {&kDenseBackwardData, makeDenseBackwardData},
    {&kDenseBackwardWeights, makeDenseBackwardWeights},
    {&kDenseBackwardBias, makeBackwardBias},
    {&kDenseBackwardWeightsBias, makeDenseBackwardWeightsBias},
    {&kBatchNormTrain, makeBatchNormTrain},
    {&kNormTrain, makeBatchNormTrain},
    {&kNormTrainFromSums, makeBatchNormTrain},
    {&kBatchNormEval, makeBatchNormEval},
    {&kNormEval, makeBatchNormEval},
    {&kBatchNormEvalBackward, makeBatchNormEvalBackward},
    {&kBatchNormBackward, makeBatchNormBackward},
    {&kNormBackward, makeBatchNormBackward},
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
    {&kReorder, makeReorder},
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
    {&kMixedCrossEntropy, makeCrossEntropy},
    {&kMixedCrossEntropyBackward, makeCrossEntropyBackward},
});
constexpr auto kKernels = joined(kListed, activationEntries<KernelEntry>(makeActivation, makeActivationBackward));

// Views need no kernel, and sums over ranks are the group's.
[[maybe_unused]] constexpr bool hasKernel(const OpDef* op) {
    return op == &kFlatten || op == &kReshape || op == &kAllReduce ||
           std::ranges::find(kKernels, op, &KernelEntry::op) != kKernels.end();
}
#ifndef __SANITIZE_ADDRESS__  // with its companion for undefined behaviour GCC compares no addresses as it compiles
static_assert(std::ranges::all_of(kAllOps, hasKernel), "an op of all_ops.h has no kernel for cards");
#endif

}  // namespace

const KernelEntry* findKernel(const OpDef& op) {
    const auto* found = std::ranges::find(kKernels, &op, &KernelEntry::op);
    return found == kKernels.end() ? nullptr : found;
}

}  // namespace lockstep::cuda
