#include "engine/ops/dropout.h"

#include "tests/support/case_inputs.h"

namespace lockstep::test {

void addDropoutCases(std::vector<OpCase>& cases) {
    const auto add = [&](const std::string& name, const Shape& shape, double rate, const StepScalars& scalars) {
        for (const OpDef* op : {&kDropout, &kDropoutBackward}) {
            OpCase one{.name = std::string(op->name) + "/" + name,
                       .op = op,
                       .attrs = fixedAttrs(DropoutAttrs{rate, streamOf("head/dropout")})};
            CaseInputs inputs(name);  // the same for both: the same mask
            one.inputs = {inputs.normal(shape), inputs.ids(shape[0])};
            one.scalars = scalars;
            cases.push_back(std::move(one));
        }
    };
    add("half", {5, 33}, 0.5, {.seed = 7, .epoch = 3, .step = 11});
    add("tenth", {2, 3, 5, 7}, 0.1, {.seed = 1, .epoch = 0});
    add("none", {3, 4}, 0, {});
    add("nearly-all", {1, 257}, 0.99, {.seed = ~0ull, .epoch = 1 << 20});
    add("16-channels", {2, 16, 4, 4}, 0.25, {.seed = 5, .epoch = 2});
}

}  // namespace lockstep::test
