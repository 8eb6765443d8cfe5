#include "engine/ops/loss.h"

#include <limits>

#include "tests/support/case_inputs.h"

namespace lockstep::test {

namespace {

struct Logits {
    std::string name;
    CaseInput logits, labels;
    bool smooth = true, masked = false;
};

std::vector<Logits> logits() {
    CaseInputs in("logits");
    std::vector<double> overflowing, reversed;
    for (int i = 0; i < 12; ++i) overflowing.push_back(i % 2 ? 1e4 : -1e4 + i);
    for (int i = 0; i < 14; ++i) reversed.push_back(-i);
    return {
        {"10-classes", in.normal({8, 10}), in.labels(8, 10)},
        {"batch-1", in.normal({1, 5}), in.labels(1, 5)},
        {"1000-classes", in.normal({3, 1000}, ValueRole::Input, 4), in.labels(3, 1000)},
        {"17-samples", in.normal({17, 7}, ValueRole::Input, 10), in.labels(17, 7)},
        {"two-classes", in.normal({6, 2}), in.labels(6, 2)},
        {"one-class", in.normal({3, 1}), CaseInputs::labelsGiven({0, 0, 0})},
        {"all-equal", CaseInputs::given({4, 6}, std::vector<double>(24, 0.5)), CaseInputs::labelsGiven({0, 2, 4, 5})},
        {"would-overflow", CaseInputs::given({2, 6}, overflowing), CaseInputs::labelsGiven({1, 4}), false},
        {"tokens", in.normal({3, 5, 19}), in.tokens({3, 5}, 19)},
        {"masked-tokens", in.normal({2, 4, 33}, ValueRole::Input, 2),
         CaseInputs::labelsGiven({2, 4}, {3, -1, 32, 0, -1, -1, 16, -1}), true, true},
        {"nothing-counts", in.normal({2, 2, 6}), CaseInputs::labelsGiven({2, 2}, {-1, -1, -1, -1}), true, true},
        {"many-tokens", in.normal({2, 128, 256}), in.tokens({2, 128}, 256), true, true},
        {"in-order", CaseInputs::given({2, 7}, reversed), CaseInputs::labelsGiven({0, 6})},
    };
}

void addCrossEntropy(std::vector<OpCase>& cases, const Logits& given, double smoothing) {
    const std::string name = given.name + (smoothing > 0 ? "-smoothed" : "");
    cases.push_back({.name = "cross_entropy/" + name,
                     .op = &kCrossEntropy,
                     .attrs = fixedAttrs(CrossEntropyAttrs{smoothing, given.masked}),
                     .inputs = {given.logits, given.labels},
                     .smooth = given.smooth});
    cases.push_back({.name = "cross_entropy_backward/" + name,
                     .op = &kCrossEntropyBackward,
                     .attrs = fixedAttrs(CrossEntropyAttrs{smoothing, given.masked}),
                     .inputs = {given.logits, given.labels, CaseInputs::scalar(smoothing > 0 ? 0.5 : 1)}});
}

void addTopK(std::vector<OpCase>& cases, const Logits& given) {
    const std::int64_t classes = given.logits.tensor.type().shape[-1];
    for (const int k : {1, 3, 5}) {
        if (k > classes) continue;
        cases.push_back({.name = "top_k_count/" + given.name + "-" + std::to_string(k),
                         .op = &kTopKCount,
                         .attrs = fixedAttrs(TopKAttrs{k, given.masked}),
                         .inputs = {given.logits, given.labels},
                         .tolerance = 0});
    }
}

}  // namespace

void addLossCases(std::vector<OpCase>& cases) {
    for (const Logits& given : logits()) {
        addCrossEntropy(cases, given, 0);
        addCrossEntropy(cases, given, 0.1);
        addTopK(cases, given);
    }
    // Label not a number: a miss. Another logit not a number: it comes first.
    const double nan = std::numeric_limits<double>::quiet_NaN();
    addTopK(cases,
            {"not-a-number", CaseInputs::given({3, 5}, {nan, 1, 2, 3, 4, 9, nan, 1, 1, 1, nan, nan, nan, nan, nan}),
             CaseInputs::labelsGiven({0, 0, 4})});
}

}  // namespace lockstep::test
