#include "engine/ops/elementwise.h"

#include "tests/support/case_inputs.h"

namespace lockstep::test {

namespace {

constexpr double kDenormal = 0x1p-140;  // below the smallest normal float: a backend may take it for zero

std::vector<double> specialValues() {
    return {0.0, -0.0, kDenormal, -kDenormal, 1.5, -1.5, 0x1p100, -0x1p100, 0x1p-126, -0x1p-126, 1, -1, 3e-5};
}

void add(std::vector<OpCase>& cases, const std::string& name, const OpDef& op, std::vector<CaseInput> inputs,
         bool smooth = true) {
    OpCase one{.name = std::string(op.name) + "/" + name, .op = &op};
    one.inputs = std::move(inputs);
    one.smooth = smooth;
    cases.push_back(std::move(one));
}

void addRelu(std::vector<OpCase>& cases) {
    CaseInputs in("relu");
    for (const Shape& shape : {Shape{2, 3, 5, 7}, Shape{1, 1}, Shape{3, 16, 4, 4}, Shape{2, 17, 3, 3}, Shape{9, 33}}) {
        add(cases, shape.text(), kRelu, {in.normal(shape)});
        add(cases, shape.text(), kReluBackward, {in.normal(shape), in.normal(shape)});
        add(cases, shape.text(), kAdd, {in.normal(shape), in.normal(shape)});
    }
    const Shape special{1, static_cast<std::int64_t>(specialValues().size())};
    const CaseInput values = CaseInputs::given(special, specialValues());
    add(cases, "special-values", kRelu, {values}, false);
    add(cases, "special-values", kReluBackward,
        {CaseInputs::given({1, 6}, {0.0, -0.0, 0x1p-126, 0x1p100, 1, 3e-5}), in.normal({1, 6})});
    add(cases, "special-values", kAdd, {values, in.normal(special, ValueRole::Input, 1e-3)}, false);
    add(cases, "all-zero", kReluBackward, {CaseInputs::given({2, 3}, std::vector<double>(6)), in.normal({2, 3})});
}

void addRelu6(std::vector<OpCase>& cases) {
    CaseInputs in("relu6");
    for (const Shape& shape : {Shape{2, 3, 5, 7}, Shape{1, 1}, Shape{3, 16, 4, 4}, Shape{2, 17, 3, 3}, Shape{9, 33}}) {
        add(cases, shape.text(), kRelu6, {in.normal(shape, ValueRole::Input, 5)});
        add(cases, shape.text(), kRelu6Backward, {in.normal(shape, ValueRole::Input, 5), in.normal(shape)});
    }
    const CaseInput corners = CaseInputs::given({1, 9}, {0.0, -0.0, 0x1p-126, -1, 3, 6, 7, 0x1p100, -0x1p100});
    add(cases, "special-values", kRelu6, {corners}, false);
    add(cases, "special-values", kRelu6Backward, {corners, in.normal({1, 9})});
}

void addFill(std::vector<OpCase>& cases) {
    const auto fill = [&](const std::string& name, const Shape& shape, std::optional<DType> dtype, double value) {
        cases.push_back({.name = "fill/" + name, .op = &kFill, .attrs = [=](DType compute) {
                             return Attrs::of(FillAttrs{{shape, dtype.value_or(compute)}, value});
                         }});
    };
    fill("loss-gradient", {1}, DType::F64, 1);
    fill("image", {2, 3, 5, 5}, std::nullopt, -0.375);
    fill("zero", {7}, std::nullopt, 0);
    fill("labels", {5}, DType::I32, 3);
}

void addViews(std::vector<OpCase>& cases) {
    CaseInputs in("views");
    add(cases, "image", kFlatten, {in.normal({2, 3, 4, 5})});
    add(cases, "flat-already", kFlatten, {in.normal({4, 6})});
    OpCase reshape{.name = "reshape/to-rank-3", .op = &kReshape, .attrs = fixedAttrs(ShapeAttrs{{3, 2, 4}})};
    reshape.inputs = {in.normal({6, 4})};
    cases.push_back(std::move(reshape));
}

void addCast(std::vector<OpCase>& cases) {
    CaseInputs in("cast");
    const auto cast = [&](const std::string& name, CaseInput input, std::optional<DType> to) {
        OpCase one{.name = "cast/" + name, .op = &kCast, .attrs = [to](DType compute) {
                       return Attrs::of(CastAttrs{to.value_or(compute)});
                   }};
        one.inputs = {std::move(input)};
        cases.push_back(std::move(one));
    };
    const HostTensor singles = converted(in.normal({3, 7}).tensor, DType::F32);
    cast("bytes", in.bytes({2, 1, 5, 5}), std::nullopt);
    cast("labels", in.labels(9, 1000), std::nullopt);
    cast("ids", in.ids(3), DType::F64);
    cast("f32", {singles, ValueRole::Input, true}, std::nullopt);
    cast("to-f64", in.normal({4, 3}), DType::F64);
    cast("to-f32", in.normal({4, 3}), DType::F32);
}

}  // namespace

void addElementwiseCases(std::vector<OpCase>& cases) {
    addRelu(cases);
    addRelu6(cases);
    addFill(cases);
    addViews(cases);
    addCast(cases);
}

}  // namespace lockstep::test
