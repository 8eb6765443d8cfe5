#include "engine/ops/tokens.h"

#include "tests/support/case_inputs.h"

namespace lockstep::test {

void addTokenCases(std::vector<OpCase>& cases) {
    const auto add = [&](const OpDef& op, const Shape& shape, auto makeInputs) {
        OpCase one{.name = std::string(op.name) + "/" + shape.text(), .op = &op};
        CaseInputs in(one.name);
        one.inputs = makeInputs(in);
        cases.push_back(std::move(one));
    };
    using List = std::vector<CaseInput>;
    for (const Shape& shape :
         {Shape{2, 3, 5}, Shape{1, 1, 1}, Shape{3, 16, 16}, Shape{2, 17, 33}, Shape{1, 32, 7}, Shape{2, 64, 256}})
        add(kTranspose, shape, [&](CaseInputs& in) { return List{in.normal(shape)}; });
    for (const Shape& shape : {Shape{2, 5, 32}, Shape{1, 1, 3}, Shape{3, 7}, Shape{4, 65, 80}})
        add(kBroadcastAdd, shape, [&](CaseInputs& in) {
            return List{in.normal(shape), in.normal(Shape(shape.dims().subspan(1)), ValueRole::Parameter)};
        });
}

}  // namespace lockstep::test
