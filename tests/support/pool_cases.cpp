#include "engine/ops/pool2d.h"

#include <array>

#include "engine/ops/shape_attrs.h"
#include "tests/support/case_inputs.h"

namespace lockstep::test {

namespace {

struct Pooling {
    std::string name;
    Shape x;
    Pool2dAttrs attrs{};
};

std::vector<Pooling> poolings() {
    return {
        {"2x2", {2, 3, 6, 8}, {}},
        {"2x2-odd", {2, 3, 7, 5}, {}},
        {"3x3-overlapping", {2, 4, 9, 7}, {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}},
        {"uneven", {1, 2, 6, 9}, {.window = {2, 4}, .stride = {1, 3}, .padding = {1, 2}}},
        {"stride-skips", {1, 2, 9, 9}, {.window = {2, 2}, .stride = {3, 3}}},
        {"window-1", {1, 2, 3, 3}, {.window = {1, 1}, .stride = {1, 1}}},
        {"whole-image", {2, 3, 4, 5}, {.window = {4, 5}, .stride = {1, 1}}},
        {"one-pixel", {1, 1, 1, 1}, {.window = {2, 2}, .stride = {1, 1}, .padding = {1, 1}}},
        {"16-channels", {2, 16, 8, 8}, {}},
        {"17-channels", {3, 17, 8, 6}, {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}},
    };
}

Shape outputShape(const Pooling& p) {
    return kAveragePool2d.infer(std::array{TensorType{p.x}}, Attrs::of(p.attrs))[0].shape;
}

// Some position of each window that lies inside the image: what a forward pass could have chosen.
CaseInput positionsIn(const Pooling& p, CaseInputs& inputs) {
    const Shape y = outputShape(p);
    CaseInput positions = inputs.labels(y.count(), p.attrs.window[0] * p.attrs.window[1]);
    const auto inside = [](std::int64_t at, int stride, int padding, int offset, std::int64_t extent) {
        const std::int64_t where = at * stride - padding + offset;
        return where >= 0 && where < extent;
    };
    HostTensor argmax({y, DType::I32});
    for (std::int64_t i = 0; i < y.count(); ++i) {
        const std::int64_t row = i / y[3] % y[2], column = i % y[3];
        int position = positions.tensor.as<std::int32_t>()[static_cast<std::size_t>(i)];
        const auto lies = [&] {
            return inside(row, p.attrs.stride[0], p.attrs.padding[0], position / p.attrs.window[1], p.x[2]) &&
                   inside(column, p.attrs.stride[1], p.attrs.padding[1], position % p.attrs.window[1], p.x[3]);
        };
        while (!lies()) position = (position + 1) % (p.attrs.window[0] * p.attrs.window[1]);
        argmax.as<std::int32_t>()[static_cast<std::size_t>(i)] = position;
    }
    return {std::move(argmax), ValueRole::Input, true};
}

void addMax(std::vector<OpCase>& cases, const Pooling& p) {
    OpCase forward{.name = "max_pool2d/" + p.name, .op = &kMaxPool2d, .attrs = fixedAttrs(p.attrs)};
    // All below zero: padding that counted as zero would win.
    forward.inputs = {CaseInputs(forward.name).normal(p.x, ValueRole::Input, 1, -8)};
    cases.push_back(std::move(forward));

    OpCase backward{.name = "max_pool2d_backward/" + p.name,
                    .op = &kMaxPool2dBackward,
                    .attrs = fixedAttrs(Pool2dBackwardAttrs{p.attrs, p.x})};
    CaseInputs inputs(backward.name);
    backward.inputs = {inputs.normal(outputShape(p)), positionsIn(p, inputs)};
    cases.push_back(std::move(backward));
}

void addAverage(std::vector<OpCase>& cases, Pooling p) {
    for (const bool countPadding : {false, true}) {
        if (countPadding && p.attrs.padding == std::array{0, 0}) continue;
        p.attrs.countPadding = countPadding;
        const std::string name = p.name + (countPadding ? "-count-padding" : "");
        OpCase forward{.name = "average_pool2d/" + name, .op = &kAveragePool2d, .attrs = fixedAttrs(p.attrs)};
        forward.inputs = {CaseInputs(forward.name).normal(p.x)};
        cases.push_back(std::move(forward));

        OpCase backward{.name = "average_pool2d_backward/" + name,
                        .op = &kAveragePool2dBackward,
                        .attrs = fixedAttrs(Pool2dBackwardAttrs{p.attrs, p.x})};
        backward.inputs = {CaseInputs(backward.name).normal(outputShape(p))};
        cases.push_back(std::move(backward));
    }
}

void addGlobal(std::vector<OpCase>& cases, const std::string& name, const Shape& x) {
    OpCase forward{.name = "global_average_pool2d/" + name, .op = &kGlobalAveragePool2d};
    forward.inputs = {CaseInputs(forward.name).normal(x)};
    cases.push_back(std::move(forward));

    OpCase backward{.name = "global_average_pool2d_backward/" + name,
                    .op = &kGlobalAveragePool2dBackward,
                    .attrs = fixedAttrs(ShapeAttrs{x})};
    backward.inputs = {CaseInputs(backward.name).normal({x[0], x[1]})};
    cases.push_back(std::move(backward));
}

// Of equal maxima the first wins; also with zeros of both signs, which are equal.
void addTies(std::vector<OpCase>& cases) {
    const auto add = [&](const std::string& name, const Shape& x, std::vector<double> values, Pool2dAttrs attrs) {
        OpCase one{.name = "max_pool2d/" + name, .op = &kMaxPool2d, .attrs = fixedAttrs(attrs), .smooth = false};
        one.inputs = {CaseInputs::given(x, std::move(values))};
        cases.push_back(std::move(one));
    };
    const Pool2dAttrs overlapping{.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}};
    add("all-equal", {1, 2, 4, 4}, std::vector<double>(32, 0.25), overlapping);
    add("ties", {1, 1, 4, 4}, {1, 2, 3, 3, 2, 2, 3, 1, 5, 4, 0, 7, 4, 5, 7, 7}, {});
    add("signed-zeros", {1, 1, 2, 4}, {-0.0, 0.0, 0.0, -0.0, 0.0, -0.0, -0.0, 0.0}, {});
    add("after-relu", {1, 16, 2, 2}, std::vector<double>(64, 0), {});
}

}  // namespace

void addPoolCases(std::vector<OpCase>& cases) {
    for (const Pooling& p : poolings()) {
        addMax(cases, p);
        addAverage(cases, p);
    }
    addTies(cases);
    addGlobal(cases, "7x7", {2, 5, 7, 7});
    addGlobal(cases, "uneven", {3, 16, 4, 1});
    addGlobal(cases, "one-pixel", {1, 3, 1, 1});
    addGlobal(cases, "17-channels", {2, 17, 3, 5});
}

}  // namespace lockstep::test
