#include "engine/ops/dense.h"

#include "tests/support/case_inputs.h"

namespace lockstep::test {

namespace {

struct Size {
    std::string name;
    std::int64_t samples, in, out;
};

void addForward(std::vector<OpCase>& cases, const Size& size, bool hasBias) {
    OpCase one{.name = "dense/" + size.name + (hasBias ? "" : "-no-bias"), .op = &kDense};
    CaseInputs inputs(one.name);
    one.inputs = {inputs.normal({size.samples, size.in}), inputs.normal({size.out, size.in}, ValueRole::Parameter)};
    if (hasBias) one.inputs.push_back(inputs.normal({size.out}, ValueRole::Parameter));
    cases.push_back(std::move(one));
}

void addBackward(std::vector<OpCase>& cases, const Size& size) {
    const auto add = [&](const OpDef& op, auto makeInputs) {
        OpCase one{.name = std::string(op.name) + "/" + size.name, .op = &op};
        CaseInputs inputs(one.name);
        one.inputs = makeInputs(inputs);
        cases.push_back(std::move(one));
    };
    const Shape x{size.samples, size.in}, w{size.out, size.in}, dy{size.samples, size.out};
    using List = std::vector<CaseInput>;
    add(kDenseBackwardData, [&](CaseInputs& in) { return List{in.normal(dy), in.normal(w, ValueRole::Parameter)}; });
    add(kDenseBackwardWeights, [&](CaseInputs& in) { return List{in.normal(x), in.normal(dy)}; });
    add(kDenseBackwardBias, [&](CaseInputs& in) { return List{in.normal(dy)}; });
}

}  // namespace

void addDenseCases(std::vector<OpCase>& cases) {
    const std::vector<Size> sizes{{"ones", 1, 1, 1},       {"batch-1", 1, 64, 10},  {"odd", 5, 7, 3},
                                  {"primes", 33, 17, 19},  {"one-output", 4, 9, 1}, {"one-input", 6, 1, 8},
                                  {"lenet", 16, 400, 120}, {"blocked", 32, 64, 128}};
    for (const Size& size : sizes) {
        addForward(cases, size, true);
        addForward(cases, size, false);
        addBackward(cases, size);
    }
}

}  // namespace lockstep::test
