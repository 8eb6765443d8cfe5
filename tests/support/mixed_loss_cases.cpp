#include "engine/ops/mixed_loss.h"
#include "tests/support/case_inputs.h"

namespace lockstep::test {

namespace {

struct Mixed {
    std::string name;
    CaseInput logits, labels, others;
    bool masked = false;
};

// No gradient goes to them, as to a buffer.
CaseInput lambdas(std::int64_t samples) {
    std::vector<double> values;
    for (std::int64_t n = 0; n < samples; ++n) values.push_back(1 - 0.0625 * static_cast<double>(n % 9));  // to 1/2
    return CaseInputs::given({samples}, values, ValueRole::Buffer);
}

void add(std::vector<OpCase>& cases, const Mixed& given, double smoothing) {
    const std::string name = given.name + (smoothing > 0 ? "-smoothed" : "");
    const std::vector<CaseInput> inputs{given.logits, given.labels, given.others,
                                        lambdas(given.logits.tensor.type().shape[0])};
    cases.push_back({.name = "mixed_cross_entropy/" + name,
                     .op = &kMixedCrossEntropy,
                     .attrs = fixedAttrs(CrossEntropyAttrs{smoothing, given.masked}),
                     .inputs = inputs});
    cases.push_back({.name = "mixed_cross_entropy_backward/" + name,
                     .op = &kMixedCrossEntropyBackward,
                     .attrs = fixedAttrs(CrossEntropyAttrs{smoothing, given.masked}),
                     .inputs = {inputs[0], inputs[1], inputs[2], inputs[3], CaseInputs::scalar(0.5)}});
}

}  // namespace

void addMixedLossCases(std::vector<OpCase>& cases) {
    CaseInputs in("mixed loss");
    for (const double smoothing : {0.0, 0.1}) {
        add(cases, {"10-classes", in.normal({11, 10}), in.labels(11, 10), in.labels(11, 10)}, smoothing);
        add(cases, {"1000-classes", in.normal({3, 1000}, ValueRole::Input, 4), in.labels(3, 1000), in.labels(3, 1000)},
            smoothing);
        add(cases,
            {"equal-labels", in.normal({2, 3}), CaseInputs::labelsGiven({1, 2}), CaseInputs::labelsGiven({1, 2})},
            smoothing);
        add(cases,
            {"masked", in.normal({4, 3}), CaseInputs::labelsGiven({1, -1, 0, -1}),
             CaseInputs::labelsGiven({1, 2, 2, 0}), true},
            smoothing);
        add(cases, {"batch-1", in.normal({1, 5}), in.labels(1, 5), in.labels(1, 5)}, smoothing);
    }
}

}  // namespace lockstep::test
