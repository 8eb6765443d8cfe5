#include "engine/ops/synchronised_norm.h"

#include <cmath>

#include "engine/ops/all_reduce.h"
#include "tests/support/case_inputs.h"

namespace lockstep::test {

namespace {

// What one rank sees of a batch: its own samples, and what the others' values of a channel sum up to.
struct Part {
    std::string name;
    Shape x;
    double others = 0;  // values in a channel that other ranks have
    double offset = 0;
    BatchNormAttrs attrs{};
    double tolerance = 1e-5;
};

std::vector<Part> parts() {
    return {
        {"image", {3, 5, 4, 6}, 70},
        {"alone", {2, 3, 5, 5}},
        {"batch-1", {1, 3, 5, 5}, 100},
        {"dense", {8, 7}, 3},
        {"16-channels", {4, 16, 6, 6}, 11},
        {"17-channels", {2, 17, 5, 3}, 500},
        {"64-channels", {5, 64, 7, 7}, 245},
        {"16-samples", {16, 3, 9, 9}, 81},
        {"epsilon", {2, 3, 4, 4}, 32, 0, {.epsilon = 0.1, .momentum = 0.25}},
        {"one-value", {1, 4}},
        {"one-value-of-two", {1, 4}, 1},
        {"far-from-zero", {4, 3, 8, 8}, 64, 100, {}, 2e-3},
    };
}

CaseInput sumsOf(const Part& part, const std::vector<double>& first, const std::vector<double>& second) {
    std::vector<double> sums = first;
    sums.insert(sums.end(), second.begin(), second.end());
    const double own = static_cast<double>(part.x.count() / part.x[1]);
    sums.push_back(own + part.others);
    CaseInput input = CaseInputs::given({static_cast<std::int64_t>(sums.size())}, sums);
    input.fixedType = true;
    return input;
}

// Calls visit(channel, flat index) for every element.
template <class Visit>
void forEach(const Shape& x, Visit visit) {
    const std::int64_t pixels = x.count() / x[0] / x[1];
    for (std::int64_t i = 0; i < x.count(); ++i)
        visit(static_cast<std::size_t>(i / pixels % x[1]), static_cast<std::size_t>(i));
}

struct Inputs {
    CaseInputs make;
    Shape channels;
    CaseInput x, gamma, beta, runningMean, runningVariance, dy;

    Inputs(const Part& part, const std::string& name)
        : make(name),
          channels({part.x[1]}),
          x(make.normal(part.x, ValueRole::Input, 1, part.offset)),
          gamma(make.normal(channels, ValueRole::Parameter)),
          beta(make.normal(channels, ValueRole::Parameter)),
          runningMean(CaseInputs::statistic(make.normal(channels, ValueRole::Buffer, 1, part.offset / 2))),
          runningVariance(CaseInputs::statistic(make.positive(channels, ValueRole::Buffer))),
          dy(make.normal(part.x)) {}
};

void add(std::vector<OpCase>& cases, const OpDef& op, const Part& part, std::vector<CaseInput> inputs,
         const char* suffix = "") {
    OpCase one{.name = std::string(op.name) + "/" + part.name + suffix, .op = &op};
    if (&op == &kBatchNormTrainFromSums) one.attrs = fixedAttrs(part.attrs);
    one.inputs = std::move(inputs);
    one.tolerance = part.tolerance;
    one.smooth = false;
    cases.push_back(std::move(one));
}

// The other ranks' values are one deviation above and below the running mean's neighbourhood.
void addForward(std::vector<OpCase>& cases, const Part& part) {
    const Inputs in(part, "synchronised norm " + part.name);
    add(cases, kBatchNormSums, part, {in.x, in.runningMean});
    std::vector<double> sum(static_cast<std::size_t>(part.x[1])), square = sum;
    for (std::size_t c = 0; c < sum.size(); ++c) {
        sum[c] = part.others * (0.25 + part.offset / 2);
        square[c] = part.others * (1.5 + part.offset * part.offset / 4);
    }
    forEach(part.x, [&](std::size_t c, std::size_t i) {
        const double deviation = in.x.tensor.as<double>()[i] - in.runningMean.tensor.as<double>()[c];
        sum[c] += deviation;
        square[c] += deviation * deviation;
    });
    add(cases, kBatchNormTrainFromSums, part,
        {in.x, in.gamma, in.beta, in.runningMean, in.runningVariance, sumsOf(part, sum, square)});
}

void addBackward(std::vector<OpCase>& cases, const Part& part) {
    Inputs in(part, "synchronised norm backward " + part.name);
    const CaseInput mean = CaseInputs::statistic(in.make.normal(in.channels, ValueRole::Input, 0.1, part.offset)),
                    invStd = CaseInputs::statistic(in.make.positive(in.channels));
    add(cases, kBatchNormBackwardSums, part, {in.x, mean, invStd, in.dy});
    std::vector<double> sum(static_cast<std::size_t>(part.x[1]), 0.125 * part.others), dot = sum;
    forEach(part.x, [&](std::size_t c, std::size_t i) {
        const double dy = in.dy.tensor.as<double>()[i];
        sum[c] += dy;
        dot[c] += dy * (in.x.tensor.as<double>()[i] - mean.tensor.as<double>()[c]) * invStd.tensor.as<double>()[c];
    });
    add(cases, kBatchNormBackwardFromSums, part, {in.x, in.gamma, mean, invStd, in.dy, sumsOf(part, sum, dot)});
}

// In a world of one: then the rule's gradient is that of all three steps together.
void addWhole(std::vector<OpCase>& cases, const Part& part) {
    const Inputs in(part, "synchronised norm whole " + part.name);
    add(cases, kBatchNormTrainFromSums, part, {in.x, in.gamma, in.beta, in.runningMean, in.runningVariance}, "/whole");
    cases.back().smooth = part.x.count() / part.x[1] > 2;
    cases.back().append = [](Graph& graph, const std::vector<ValueId>& given, const OpCase& opCase, DType compute) {
        const ValueId own = graph.append(kBatchNormSums, {given[0], given[3]}, {}, "case")[0];
        std::vector<ValueId> inputs = given;
        inputs.push_back(graph.append(kAllReduce, {own}, {}, "case")[0]);
        return graph.append(*opCase.op, inputs, opCase.attrs(compute), "case");
    };
}

}  // namespace

void addSynchronisedNormCases(std::vector<OpCase>& cases) {
    for (const Part& part : parts()) {
        addForward(cases, part);
        addBackward(cases, part);
        addWhole(cases, part);
    }
    CaseInput sums = CaseInputs("all-reduce").normal({7});
    sums.fixedType = true;
    cases.push_back({.name = "all_reduce/alone", .op = &kAllReduce, .inputs = {sums}});
}

}  // namespace lockstep::test
