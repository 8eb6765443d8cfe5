#include "engine/ops/activation.h"

#include "tests/support/case_inputs.h"

namespace lockstep::test {

void addActivationCases(std::vector<OpCase>& cases) {
    const auto add = [&](const std::string& name, const OpDef& op, std::vector<CaseInput> inputs, bool smooth = true) {
        OpCase one{.name = std::string(op.name) + "/" + name, .op = &op};
        one.inputs = std::move(inputs);
        one.smooth = smooth;
        cases.push_back(std::move(one));
    };
    const std::vector<double> steps{0.0, -0.0, 0x1p-126, -0x1p-126, 3e-5, -0.75, 1,     -1,  4,
                                    -4,  9,    -9,       30,        -30,  87.5,  -87.5, 200, -200};
    const Shape special{1, static_cast<std::int64_t>(steps.size())};
    for (const auto& [kind, forward, backward] : kActivations) {
        CaseInputs in(forward->name);
        for (const Shape& shape :
             {Shape{2, 3, 5, 7}, Shape{1, 1}, Shape{3, 16, 4, 4}, Shape{9, 33}, Shape{5, 65, 64}}) {
            add(shape.text(), *forward, {in.normal(shape, ValueRole::Input, 2)});
            add(shape.text(), *backward, {in.normal(shape, ValueRole::Input, 2), in.normal(shape)});
        }
        add("special-values", *forward, {CaseInputs::given(special, steps)}, false);
        add("special-values", *backward, {CaseInputs::given(special, steps), in.normal(special)});
    }
}

}  // namespace lockstep::test
