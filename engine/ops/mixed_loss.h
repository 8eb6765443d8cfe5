#pragma once
#include "engine/ops/loss.h"

namespace lockstep {

// The loss of mixed samples (mixup: Zhang et al., arXiv 1710.09412): lambda times the cross-entropy with the one label
// plus (1 - lambda) times that with the other. Sums, smoothing and masking (by the first label) as in loss.h.
extern const OpDef kMixedCrossEntropy;          // (logits: N,C; labels: N, i32; others: N, i32; lambda: N)
                                                //     -> lossSum: f64[1], weight: f64[1]          CrossEntropyAttrs
extern const OpDef kMixedCrossEntropyBackward;  // (logits, labels, others, lambda, dLossSum: f64[1]) -> dlogits

struct MixedLabels {
    ValueId labels, others, lambda;
};
LossValues mixedCrossEntropy(GraphBuilder& b, ValueId logits, const MixedLabels& mixed, double smoothing,
                             const std::string& name, bool masked = false);

}  // namespace lockstep
