#pragma once
#include <array>

#include "engine/core/joined.h"
#include "engine/ops/activation.h"
#include "engine/ops/all_reduce.h"
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

namespace lockstep {

// Those of families without a list of their own.
inline constexpr auto kListedOps = std::to_array<const OpDef*>({
    &kConv2d,
    &kConv2dBackwardData,
    &kConv2dBackwardWeights,
    &kConv2dBackwardBias,
    &kMaxPool2d,
    &kMaxPool2dBackward,
    &kAveragePool2d,
    &kAveragePool2dBackward,
    &kGlobalAveragePool2d,
    &kGlobalAveragePool2dBackward,
    &kDense,
    &kDenseBackwardData,
    &kDenseBackwardWeights,
    &kDenseBackwardBias,
    &kBatchNormTrain,
    &kBatchNormEval,
    &kBatchNormBackward,
    &kBatchNormEvalBackward,
    &kBatchNormSums,
    &kBatchNormTrainFromSums,
    &kBatchNormBackwardSums,
    &kBatchNormBackwardFromSums,
    &kAllReduce,
    &kRelu,
    &kReluBackward,
    &kRelu6,
    &kRelu6Backward,
    &kAdd,
    &kFill,
    &kFlatten,
    &kReshape,
    &kCast,
    &kDropout,
    &kDropoutBackward,
    &kPixelsToImages,
    &kLayerNorm,
    &kLayerNormBackward,
    &kTranspose,
    &kBroadcastAdd,
    &kPad,
    &kSequenceMean,
    &kSequenceMeanBackward,
    &kEmbedding,
    &kEmbeddingBackward,
    &kAttention,
    &kAttentionBackward,
    &kCrossEntropy,
    &kCrossEntropyBackward,
    &kTopKCount,
    &kMixedCrossEntropy,
    &kMixedCrossEntropyBackward,
});
// The family of activations: see kActivations.
inline constexpr auto kActivationOps = [] {
    std::array<const OpDef*, 2 * kActivations.size()> ops{};
    auto* next = ops.data();
    for (const Activation& each : kActivations) *next++ = each.forward, *next++ = each.backward;
    return ops;
}();

// What opSet() lists, for those who check it as they are compiled.
inline constexpr auto kAllOps = joined(kListedOps, kActivationOps);

}  // namespace lockstep
