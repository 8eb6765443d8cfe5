#include "engine/ops/layer_norm.h"

#include "tests/support/case_inputs.h"

namespace lockstep::test {

namespace {

struct Norm {
    std::string name;
    Shape x;
    double offset = 0;
    LayerNormAttrs attrs{};
    double tolerance = 1e-5;
};

// An offset of 100 standard deviations costs a float about two digits.
std::vector<Norm> norms() {
    return {
        {"tokens", {2, 5, 32}},
        {"rows", {7, 16}},
        {"odd-width", {3, 5, 37}},
        {"narrow", {2, 3, 3}},
        {"two-features", {5, 2}},
        {"one-token", {1, 1, 64}},
        {"many", {4, 65, 96}},
        {"rank-4", {2, 3, 2, 17}},
        {"epsilon", {3, 20}, 0, {.epsilon = 0.5}},
        {"far-from-zero", {4, 48}, 100, {}, 2e-3},
    };
}

}  // namespace

void addLayerNormCases(std::vector<OpCase>& cases) {
    for (const Norm& norm : norms()) {
        const Shape features{norm.x[-1]};
        const Shape rows(norm.x.dims().first(static_cast<std::size_t>(norm.x.rank() - 1)));
        OpCase forward{.name = "layer_norm/" + norm.name,
                       .op = &kLayerNorm,
                       .attrs = fixedAttrs(norm.attrs),
                       .tolerance = norm.tolerance};
        OpCase backward{.name = "layer_norm_backward/" + norm.name, .op = &kLayerNormBackward};
        CaseInputs in(norm.name);
        const CaseInput x = in.normal(norm.x, ValueRole::Input, 1, norm.offset);
        const CaseInput gamma = in.normal(features, ValueRole::Parameter);
        forward.inputs = {x, gamma, in.normal(features, ValueRole::Parameter)};
        backward.inputs = {x, gamma, CaseInputs::statistic(in.normal(rows, ValueRole::Input, 0.1, norm.offset)),
                           CaseInputs::statistic(in.positive(rows)), in.normal(norm.x)};
        cases.push_back(std::move(forward));
        cases.push_back(std::move(backward));
    }
    OpCase constant{.name = "layer_norm/constant-row", .op = &kLayerNorm, .attrs = fixedAttrs(LayerNormAttrs{})};
    CaseInputs in(constant.name);
    constant.inputs = {CaseInputs::given({2, 3}, {0.5, 0.5, 0.5, 1, 2, 4}), in.normal({3}, ValueRole::Parameter),
                       in.normal({3}, ValueRole::Parameter)};
    constant.smooth = false;
    cases.push_back(std::move(constant));
}

}  // namespace lockstep::test
