#include "engine/ops/tokens.h"

#include "engine/ops/elementwise.h"
#include "tests/support/case_inputs.h"

namespace lockstep::test {

namespace {

void addLongTables(std::vector<OpCase>& cases) {
    for (const auto& [x, rows] : {std::pair{Shape{2, 3, 5}, 4}, {Shape{3, 1, 16}, 9}, {Shape{2, 20, 24}, 21}}) {
        OpCase one{.name = "broadcast_add/" + x.text() + "-of-" + std::to_string(rows), .op = &kBroadcastAdd};
        CaseInputs in(one.name);
        one.inputs = {in.normal(x), in.normal({rows, x[2]}, ValueRole::Parameter)};
        cases.push_back(std::move(one));
    }
}

void addPads(std::vector<OpCase>& cases) {
    for (const auto& [x, y] :
         {std::pair{Shape{6}, Shape{3, 2}}, {Shape{5}, Shape{3, 4}}, {Shape{2, 40}, Shape{1000}}}) {
        OpCase one{.name = "pad/" + x.text() + "-to-" + y.text(),
                   .op = &kPad,
                   .attrs = fixedAttrs(ShapeAttrs{y}),
                   .tolerance = 0};
        CaseInputs in(one.name);
        one.inputs = {in.normal(x)};
        cases.push_back(std::move(one));
    }
}

void addMeans(std::vector<OpCase>& cases) {
    struct Size {
        Shape x;
        std::vector<int> lengths;
    };
    for (const auto& [x, lengths] : {Size{{3, 7, 5}, {7, 1, 4}}, Size{{1, 1, 1}, {1}}, Size{{2, 65, 48}, {64, 65}},
                                     Size{{4, 16, 96}, {16, 3, 9, 1}}}) {
        OpCase forward{.name = "sequence_mean/" + x.text(), .op = &kSequenceMean};
        OpCase backward{.name = "sequence_mean_backward/" + x.text(),
                        .op = &kSequenceMeanBackward,
                        .attrs = fixedAttrs(ShapeAttrs{x})};
        CaseInputs in(forward.name);
        forward.inputs = {in.normal(x), CaseInputs::labelsGiven(lengths)};
        backward.inputs = {in.normal({x[0], x[2]}), CaseInputs::labelsGiven(lengths)};
        cases.push_back(std::move(forward));
        cases.push_back(std::move(backward));
    }
}

}  // namespace

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
    addLongTables(cases);
    addPads(cases);
    addMeans(cases);
}

}  // namespace lockstep::test
