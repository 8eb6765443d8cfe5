#pragma once
#include <string>

#include "engine/graph/graph_builder.h"

namespace lockstep {

// Softmax cross-entropy with label smoothing (Szegedy et al., arXiv 1512.00567, section 7): the target is
// (1 - smoothing) one-hot + smoothing / classes. Sums over all rows of logits, be they samples or the tokens of
// samples, never means; the weight is the number of rows. Where masked, rows whose label is -1 do not count: they have
// no part in loss, weight and top-k count, and no gradient.
struct CrossEntropyAttrs {
    double smoothing = 0;
    bool masked = false;
    bool operator==(const CrossEntropyAttrs&) const = default;
};
std::string describe(const CrossEntropyAttrs& attrs);
void expectSmoothing(std::string_view op,
                     const CrossEntropyAttrs& attrs);  // 0 or more, less than 1; throws ProblemError

struct TopKAttrs {
    int k = 1;
    bool masked = false;
    bool operator==(const TopKAttrs&) const = default;
};
std::string describe(const TopKAttrs& attrs);

inline TensorType lossSumType() { return {{1}, DType::F64}; }

extern const OpDef kCrossEntropy;  // (logits: …,C; labels: …, i32) -> lossSum: f64[1], weight: f64[1]
extern const OpDef
    kCrossEntropyBackward;  // (logits, labels, dLossSum: f64[1]) -> dlogits = dLossSum (softmax - target)
// How many rows have their label among the k largest logits; of equal logits the smaller class counts first. A logit
// that is not a number counts before all others, and a label's own as a miss: a diverged model is never accurate.
extern const OpDef kTopKCount;  // (logits, labels) -> count: f64[1]               TopKAttrs

struct LossValues {
    ValueId sum, weight;
};
LossValues crossEntropy(GraphBuilder& b, ValueId logits, ValueId labels, double smoothing, const std::string& name,
                        bool masked = false);
ValueId topKCount(GraphBuilder& b, ValueId logits, ValueId labels, int k, const std::string& name, bool masked = false);

}  // namespace lockstep
