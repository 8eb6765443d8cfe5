#include "engine/ops/conv2d.h"

#include <array>

#include "tests/support/case_inputs.h"

namespace lockstep::test {

namespace {

struct Convolution {
    std::string name;
    Shape x, w;
    Conv2dAttrs attrs{};
    bool hasBias = false;
};

std::vector<Convolution> convolutions() {
    return {
        {"3x3", {2, 3, 7, 5}, {4, 3, 3, 3}, {.padding = {1, 1}}, true},
        {"3x3-unpadded", {2, 3, 7, 5}, {4, 3, 3, 3}, {}},
        {"1x1", {3, 5, 4, 3}, {7, 5, 1, 1}, {}, true},
        {"1x1-stride-2", {2, 16, 9, 7}, {32, 16, 1, 1}, {.stride = {2, 2}}},
        {"5x5-lenet", {2, 1, 14, 14}, {6, 1, 5, 5}, {.padding = {2, 2}}, true},
        {"stride-2-odd", {2, 4, 9, 11}, {5, 4, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}}, true},
        {"stride-leaves-a-rest", {1, 2, 8, 10}, {3, 2, 3, 3}, {.stride = {3, 4}}},
        {"uneven", {2, 3, 6, 9}, {4, 3, 2, 5}, {.stride = {2, 1}, .padding = {0, 2}}, true},
        {"dilation-2", {2, 3, 9, 8}, {4, 3, 3, 3}, {.padding = {2, 2}, .dilation = {2, 2}}},
        {"dilation-uneven",
         {1, 2, 10, 9},
         {3, 2, 3, 2},
         {.stride = {2, 1}, .padding = {1, 3}, .dilation = {3, 2}},
         true},
        {"groups-2", {2, 6, 5, 6}, {8, 3, 3, 3}, {.padding = {1, 1}, .groups = 2}, true},
        {"groups-of-16", {1, 32, 6, 6}, {32, 16, 3, 3}, {.padding = {1, 1}, .groups = 2}},
        {"depthwise", {2, 16, 7, 7}, {16, 1, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}, .groups = 16}},
        {"depthwise-multiplier", {2, 4, 6, 5}, {12, 1, 3, 3}, {.padding = {1, 1}, .groups = 4}, true},
        {"padding-all-around", {1, 2, 1, 1}, {3, 2, 3, 3}, {.padding = {2, 2}}, true},
        {"whole-image", {2, 3, 5, 4}, {6, 3, 5, 4}, {}, true},
        {"one-of-everything", {1, 1, 1, 1}, {1, 1, 1, 1}, {}, true},
        {"17-channels", {2, 17, 6, 7}, {19, 17, 3, 3}, {.padding = {1, 1}}, true},
        {"stem-7x7", {1, 3, 21, 19}, {16, 3, 7, 7}, {.stride = {2, 2}, .padding = {3, 3}}},
        {"resnet-64", {2, 64, 14, 14}, {64, 64, 3, 3}, {.padding = {1, 1}}, true},
        {"resnet-64-to-128", {2, 64, 9, 9}, {128, 64, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}}},
        {"batch-33", {33, 16, 8, 8}, {16, 16, 3, 3}, {.padding = {1, 1}}},
        {"samples-of-32", {32, 32, 4, 4}, {64, 32, 3, 3}, {.padding = {1, 1}}},
        {"samples-stride-2", {64, 32, 5, 3}, {32, 32, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}}},
        {"samples-pixels-left-out", {32, 32, 5, 4}, {32, 32, 1, 1}, {.stride = {2, 3}}},
        {"samples-of-pixels", {3, 64, 8, 12}, {32, 64, 1, 1}, {}},
        {"samples-in-groups", {128, 32, 2, 3}, {32, 32, 2, 2}, {.padding = {1, 0}}},
        {"samples-dilated", {32, 64, 4, 3}, {32, 64, 2, 3}, {.padding = {3, 2}, .dilation = {1, 2}}},
        {"gathered-uneven", {3, 64, 9, 8}, {32, 64, 3, 2}, {.stride = {2, 3}, .padding = {2, 1}, .dilation = {1, 2}}},
        {"gathered-in-spans", {2, 32, 71, 70}, {32, 32, 1, 1}, {}},
        {"padded-wider", {3, 64, 9, 8}, {32, 64, 3, 2}, {.padding = {2, 2}, .dilation = {1, 2}}},
        {"padded-narrower", {2, 32, 11, 10}, {64, 32, 5, 3}, {}, true},
        {"padded-in-bands", {2, 32, 70, 65}, {32, 32, 1, 3}, {.padding = {0, 1}}},
        {"joined-wider", {3, 16, 6, 8}, {48, 16, 3, 5}, {.padding = {1, 2}}, true},
        {"joined-dilated", {2, 48, 9, 6}, {16, 48, 3, 3}, {.padding = {2, 1}, .dilation = {2, 1}}},
        {"joined-stride-2", {2, 16, 8, 12}, {32, 16, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}}},
        {"joined-by-fours", {3, 16, 9, 16}, {16, 16, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}}, true},
        {"joined-shortcut", {2, 16, 6, 8}, {32, 16, 1, 1}, {.stride = {2, 2}}},
        {"joined-pixels", {3, 16, 6, 5}, {64, 16, 1, 1}, {}, true},
        {"pixels", {3, 48, 9, 7}, {32, 48, 1, 1}, {}},
        {"pixels-in-chunks", {2, 16, 13, 19}, {64, 16, 1, 1}, {}},
        {"winograd-odd", {5, 32, 11, 9}, {48, 32, 3, 3}, {.padding = {1, 1}}, true},
        {"winograd-unpadded", {3, 16, 18, 13}, {32, 16, 3, 3}, {}},
        {"winograd-padding-2", {7, 16, 7, 10}, {16, 16, 3, 3}, {.padding = {2, 1}}, true},
        {"winograd-one-tile", {37, 48, 4, 3}, {16, 48, 3, 3}, {.padding = {1, 1}}},
        {"winograd-image", {35, 48, 2, 2}, {32, 48, 3, 3}, {.padding = {1, 1}}, true},
        {"winograd-image-many-filters", {33, 256, 2, 2}, {272, 256, 3, 3}, {.padding = {1, 1}}},
        {"winograd-many-filters", {9, 256, 5, 7}, {272, 256, 3, 3}, {.padding = {1, 1}}},
    };
}

// Winograd's transforms cost digits (Lavin & Gray, arXiv 1509.09308): a backend may use it where it applies.
double toleranceOf(const Convolution& c) {
    const bool winograd = c.w[2] == 3 && c.w[3] == 3 && c.attrs.stride == std::array{1, 1} &&
                          c.attrs.dilation == std::array{1, 1} && c.attrs.groups == 1;
    return winograd ? 1e-4 : 1e-5;
}

Shape outputShape(const Convolution& c) {
    return kConv2d.infer(std::array{TensorType{c.x}, TensorType{c.w}}, Attrs::of(c.attrs))[0].shape;
}

void addForward(std::vector<OpCase>& cases, const Convolution& c) {
    OpCase one{.name = "conv2d/" + c.name, .op = &kConv2d, .attrs = fixedAttrs(c.attrs), .tolerance = toleranceOf(c)};
    CaseInputs inputs(one.name);
    one.inputs = {inputs.normal(c.x), inputs.normal(c.w, ValueRole::Parameter)};
    if (c.hasBias) one.inputs.push_back(inputs.normal({c.w[0]}, ValueRole::Parameter));
    cases.push_back(std::move(one));
}

void addBackwardData(std::vector<OpCase>& cases, const Convolution& c) {
    OpCase one{.name = "conv2d_backward_data/" + c.name,
               .op = &kConv2dBackwardData,
               .attrs = fixedAttrs(Conv2dBackwardAttrs{c.attrs, c.x}),
               .tolerance = toleranceOf(c)};
    CaseInputs inputs(one.name);
    one.inputs = {inputs.normal(outputShape(c)), inputs.normal(c.w, ValueRole::Parameter)};
    cases.push_back(std::move(one));
}

void addBackwardWeights(std::vector<OpCase>& cases, const Convolution& c) {
    OpCase one{.name = "conv2d_backward_weights/" + c.name,
               .op = &kConv2dBackwardWeights,
               .attrs = fixedAttrs(Conv2dBackwardAttrs{c.attrs, c.w}),
               .tolerance = toleranceOf(c)};
    CaseInputs inputs(one.name);
    one.inputs = {inputs.normal(c.x), inputs.normal(outputShape(c))};
    cases.push_back(std::move(one));
}

void addBackwardBias(std::vector<OpCase>& cases, const Convolution& c) {
    OpCase one{.name = "conv2d_backward_bias/" + c.name, .op = &kConv2dBackwardBias};
    one.inputs = {CaseInputs(one.name).normal(outputShape(c))};
    cases.push_back(std::move(one));
}

}  // namespace

void addConvCases(std::vector<OpCase>& cases) {
    for (const Convolution& c : convolutions()) {
        addForward(cases, c);
        addBackwardData(cases, c);
        addBackwardWeights(cases, c);
        if (c.hasBias) addBackwardBias(cases, c);
    }
}

}  // namespace lockstep::test
