#include "engine/ops/batch_norm.h"

#include <cmath>

#include "tests/support/case_inputs.h"

namespace lockstep::test {

namespace {

struct Norm {
    std::string name;
    Shape x;
    double scale = 1, offset = 0;
    BatchNormAttrs attrs{};
    double tolerance = 1e-5;
};

// An offset of 100 standard deviations costs a float about two digits.
std::vector<Norm> norms() {
    return {
        {"image", {3, 5, 4, 6}},
        {"batch-1", {1, 3, 5, 5}},
        {"dense", {8, 7}},
        {"16-channels", {4, 16, 6, 6}},
        {"17-channels", {2, 17, 5, 3}},
        {"64-channels", {4, 64, 7, 7}},
        {"epsilon", {2, 3, 4, 4}, 0.01, 0, {.epsilon = 0.1, .momentum = 0.25}},
        {"momentum-1", {2, 4, 3, 3}, 1, 0, {.momentum = 1}},
        {"far-from-zero", {4, 3, 8, 8}, 1, 100, {}, 2e-3},
    };
}

CaseInput asInput(const Shape& shape, std::vector<double> values) {
    for (double& x : values) x = static_cast<float>(x);
    return CaseInputs::given(shape, std::move(values));
}

void addForward(std::vector<OpCase>& cases, const Norm& norm) {
    for (const OpDef* op : {&kBatchNormTrain, &kBatchNormEval}) {
        OpCase one{.name = std::string(op->name) + "/" + norm.name,
                   .op = op,
                   .attrs = fixedAttrs(norm.attrs),
                   .tolerance = norm.tolerance};
        CaseInputs inputs(one.name);
        const Shape channels{norm.x[1]};
        // Where the statistics are not the batch's, gamma and beta are frozen.
        const ValueRole affine = op == &kBatchNormTrain ? ValueRole::Parameter : ValueRole::Buffer;
        one.inputs = {inputs.normal(norm.x, ValueRole::Input, norm.scale, norm.offset), inputs.normal(channels, affine),
                      inputs.normal(channels, affine),
                      CaseInputs::statistic(inputs.normal(channels, ValueRole::Buffer)),
                      CaseInputs::statistic(inputs.positive(channels, ValueRole::Buffer))};
        cases.push_back(std::move(one));
    }
}

void addBackward(std::vector<OpCase>& cases, const Norm& norm) {
    OpCase one{.name = "batch_norm_backward/" + norm.name, .op = &kBatchNormBackward, .tolerance = norm.tolerance};
    CaseInputs inputs(one.name);
    const Shape channels{norm.x[1]};
    const CaseInput x = inputs.normal(norm.x, ValueRole::Input, norm.scale, norm.offset);
    const std::int64_t plane = norm.x.count() / norm.x[0] / norm.x[1];
    const double count = static_cast<double>(norm.x[0] * plane);
    std::vector<double> mean(static_cast<std::size_t>(norm.x[1])), square = mean, invStd = mean;
    std::size_t i = 0;
    for (const double value : x.tensor.as<double>()) {
        const std::size_t channel = i++ / static_cast<std::size_t>(plane) % mean.size();
        mean[channel] += value / count;
        square[channel] += value * value / count;
    }
    for (std::size_t c = 0; c < mean.size(); ++c)
        invStd[c] = 1 / std::sqrt(square[c] - mean[c] * mean[c] + norm.attrs.epsilon);
    one.inputs = {x, inputs.normal(channels, ValueRole::Parameter), CaseInputs::statistic(asInput(channels, mean)),
                  CaseInputs::statistic(asInput(channels, invStd)), inputs.normal(norm.x)};
    cases.push_back(std::move(one));
}

void addEvalBackward(std::vector<OpCase>& cases, const Norm& norm) {
    OpCase one{.name = "batch_norm_eval_backward/" + norm.name,
               .op = &kBatchNormEvalBackward,
               .attrs = fixedAttrs(norm.attrs),
               .tolerance = norm.tolerance};
    CaseInputs inputs(one.name);
    const Shape channels{norm.x[1]};
    one.inputs = {inputs.normal(norm.x), inputs.normal(channels, ValueRole::Buffer),
                  CaseInputs::statistic(inputs.positive(channels, ValueRole::Buffer))};
    cases.push_back(std::move(one));
}

void addSpecial(std::vector<OpCase>& cases) {
    const auto add = [&](const std::string& name, const CaseInput& x, std::vector<double> gamma) {
        const Shape channels{x.tensor.type().shape[1]};
        OpCase one{.name = "batch_norm_train/" + name, .op = &kBatchNormTrain, .attrs = fixedAttrs(BatchNormAttrs{})};
        CaseInputs inputs(one.name);
        one.inputs = {x, CaseInputs::given(channels, std::move(gamma), ValueRole::Parameter),
                      inputs.normal(channels, ValueRole::Parameter),
                      CaseInputs::statistic(inputs.normal(channels, ValueRole::Buffer)),
                      CaseInputs::statistic(inputs.positive(channels, ValueRole::Buffer))};
        one.smooth = false;
        cases.push_back(std::move(one));
    };
    add("one-value-per-channel", CaseInputs::given({1, 2}, {3, -5}), {1, 2});
    add("constant-channel", CaseInputs::given({2, 2, 1, 2}, {0.5, 0.5, 1, 2, 0.5, 0.5, 4, 8}), {1, 1});
    add("gamma-zero", CaseInputs("gamma-zero").normal({2, 2, 3, 3}), {0, -1});
}

}  // namespace

void addBatchNormCases(std::vector<OpCase>& cases) {
    for (const Norm& norm : norms()) {
        addForward(cases, norm);
        addBackward(cases, norm);
        addEvalBackward(cases, norm);
    }
    addSpecial(cases);
}

}  // namespace lockstep::test
