#include "tests/ops/onnx_translation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "engine/core/result.h"
#include "engine/ops/activation.h"
#include "engine/ops/batch_norm.h"
#include "engine/ops/conv2d.h"
#include "engine/ops/dense.h"
#include "engine/ops/dropout.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/layer_norm.h"
#include "engine/ops/loss.h"
#include "engine/ops/pool2d.h"
#include "engine/ops/tokens.h"
#include "tests/support/case_inputs.h"

namespace lockstep::test {

namespace {

using Values = std::vector<double>;

struct NotMapped {
    std::string why;
};

void require(bool holds, const std::string& otherwise) {
    if (!holds) throw NotMapped{otherwise};
}

Values valuesOf(const HostTensor& tensor) {
    const HostTensor doubles = converted(tensor, DType::F64);
    return {doubles.as<double>().begin(), doubles.as<double>().end()};
}

CaseInput floatInput(const HostTensor& tensor, const Shape& shape, ValueRole role = ValueRole::Input) {
    require(isFloat(tensor.type().dtype), "not a float");
    const Values values = valuesOf(tensor);
    const auto fits = [](double x) { return std::isfinite(static_cast<float>(x)) || !std::isfinite(x); };
    require(std::ranges::all_of(values, fits), "beyond single precision");
    return CaseInputs::given(shape, values, role);
}

CaseInput floatInput(const HostTensor& tensor, ValueRole role = ValueRole::Input) {
    return floatInput(tensor, tensor.type().shape, role);
}

// A row of length L is an image of 1 x L.
Shape imageShape(const Shape& shape) {
    require(shape.rank() == 3 || shape.rank() == 4, "not an image");
    return shape.rank() == 4 ? shape : Shape{shape[0], shape[1], 1, shape[2]};
}

std::array<int, 2> pairOf(const OnnxVector& v, const std::string& attribute, int fallback, std::size_t from = 0) {
    const auto found = v.numbers.find(attribute);
    if (found == v.numbers.end()) return {fallback, fallback};
    const int axes = v.inputs[0].type().shape.rank() - 2;
    const auto at = [&](int i) { return static_cast<int>(found->second.at(from + static_cast<std::size_t>(i))); };
    return axes == 1 ? std::array{attribute == "pads" ? 0 : 1, at(0)} : std::array{at(0), at(1)};
}

std::array<int, 2> samePadding(const Shape& x, std::array<int, 2> window, std::array<int, 2> stride) {
    std::array<int, 2> padding{};
    for (int axis = 0; axis < 2; ++axis) {
        const auto i = static_cast<std::size_t>(axis);
        const auto in = static_cast<int>(x[axis + 2]), out = (in - 1) / stride[i] + 1;
        const int total = std::max((out - 1) * stride[i] + window[i] - in, 0);
        require(total % 2 == 0, "padding differs between the sides");
        padding[i] = total / 2;
    }
    return padding;
}

std::array<int, 2> paddingOf(const OnnxVector& v, const Shape& x, std::array<int, 2> window,
                             std::array<int, 2> stride) {
    if (v.text("auto_pad").starts_with("SAME")) return samePadding(x, window, stride);
    const auto axes = static_cast<std::size_t>(v.inputs[0].type().shape.rank() - 2);
    const auto begin = pairOf(v, "pads", 0);
    require(begin == pairOf(v, "pads", 0, axes), "padding differs between the sides");
    return begin;
}

OnnxCase conv(const OnnxVector& v) {
    const Shape x = imageShape(v.inputs[0].type().shape), w = imageShape(v.inputs[1].type().shape);
    Conv2dAttrs attrs{.stride = pairOf(v, "strides", 1), .dilation = pairOf(v, "dilations", 1)};
    attrs.padding = paddingOf(v, x, {static_cast<int>(w[2]), static_cast<int>(w[3])}, attrs.stride);
    attrs.groups = static_cast<int>(v.number("group", 1));
    OnnxCase c{.opCase = {.op = &kConv2d, .attrs = fixedAttrs(attrs)}, .expected = {{0, v.outputs[0]}}};
    c.opCase.inputs = {floatInput(v.inputs[0], x), floatInput(v.inputs[1], w, ValueRole::Parameter)};
    if (v.inputs.size() == 3) c.opCase.inputs.push_back(floatInput(v.inputs[2], ValueRole::Parameter));
    return c;
}

OnnxCase pool(const OnnxVector& v) {
    const Shape x = imageShape(v.inputs[0].type().shape);
    Pool2dAttrs attrs{.window = pairOf(v, "kernel_shape", 1), .stride = pairOf(v, "strides", 1)};
    require(pairOf(v, "dilations", 1) == std::array{1, 1}, "dilated pooling");
    require(v.number("ceil_mode", 0) == 0, "ceil mode");
    attrs.padding = paddingOf(v, x, attrs.window, attrs.stride);
    attrs.countPadding = v.number("count_include_pad", 0) != 0;
    const OpDef* op = v.op == "MaxPool" ? &kMaxPool2d : &kAveragePool2d;
    OnnxCase c{.opCase = {.op = op, .attrs = fixedAttrs(attrs)}, .expected = {{0, v.outputs[0]}}};
    c.opCase.inputs = {floatInput(v.inputs[0], x)};
    return c;
}

OnnxCase globalPool(const OnnxVector& v) {
    OnnxCase c{.opCase = {.op = &kGlobalAveragePool2d}, .expected = {{0, v.outputs[0]}}};
    c.opCase.inputs = {floatInput(v.inputs[0], imageShape(v.inputs[0].type().shape))};
    return c;
}

HostTensor transposed(const HostTensor& matrix) {
    const std::int64_t rows = matrix.type().shape[0], columns = matrix.type().shape[1];
    const Values from = valuesOf(matrix);
    Values to;
    for (std::int64_t column = 0; column < columns; ++column)
        for (std::int64_t row = 0; row < rows; ++row)
            to.push_back(from[static_cast<std::size_t>(row * columns + column)]);
    return tensorOf({columns, rows}, to);
}

HostTensor scaled(const HostTensor& tensor, double factor) {
    Values values = valuesOf(tensor);
    for (double& x : values) x *= factor;
    return tensorOf(tensor.type().shape, values);
}

OnnxCase gemm(const OnnxVector& v) {
    const HostTensor x = v.number("transA", 0) != 0 ? transposed(v.inputs[0]) : v.inputs[0];
    const HostTensor w =
        scaled(v.number("transB", 0) != 0 ? v.inputs[1] : transposed(v.inputs[1]), v.number("alpha", 1));
    OnnxCase c{.opCase = {.op = &kDense}, .expected = {{0, v.outputs[0]}}};
    c.opCase.inputs = {floatInput(x), floatInput(w, ValueRole::Parameter)};
    if (v.inputs.size() == 2) return c;
    const std::int64_t out = w.type().shape[0];
    const Shape& bias = v.inputs[2].type().shape;
    require(bias[-1] == out && bias.count() == out, "a bias that is not one per output");
    c.opCase.inputs.push_back(floatInput(scaled(v.inputs[2], v.number("beta", 1)), {out}, ValueRole::Parameter));
    return c;
}

// Here the running variance takes the unbiased variance of the batch, in ONNX the biased one.
HostTensor unbiasedBlend(const OnnxVector& v, double keep, double count) {
    Values blended = valuesOf(v.outputs[2]);
    const Values running = valuesOf(v.inputs[4]);
    for (std::size_t i = 0; i < blended.size(); ++i)
        blended[i] = keep * running[i] + (blended[i] - keep * running[i]) * count / (count - 1);
    return tensorOf(v.outputs[2].type().shape, blended);
}

OnnxCase batchNorm(const OnnxVector& v) {
    const Shape& given = v.inputs[0].type().shape;
    const Shape x{given[0], given[1], given.count() / given[0] / given[1], 1};
    const bool trains = v.number("training_mode", 0) != 0;
    const double keep = v.number("momentum", 0.9);
    const BatchNormAttrs attrs{v.number("epsilon", 1e-5), 1 - keep};
    OnnxCase c{.opCase = {.op = trains ? &kBatchNormTrain : &kBatchNormEval, .attrs = fixedAttrs(attrs)},
               .expected = {{0, v.outputs[0]}}};
    c.opCase.inputs = {floatInput(v.inputs[0], x), floatInput(v.inputs[1], ValueRole::Parameter),
                       floatInput(v.inputs[2], ValueRole::Parameter), floatInput(v.inputs[3], ValueRole::Buffer),
                       floatInput(v.inputs[4], ValueRole::Buffer)};
    if (trains) {
        c.expected.push_back({3, v.outputs[1]});
        c.expected.push_back({4, unbiasedBlend(v, keep, static_cast<double>(x.count() / x[1]))});
    }
    return c;
}

// The second term is added to every row of the first, or is one of its size.
OnnxCase broadcastAdd(const OnnxVector& v) {
    const Shape &x = v.inputs[0].type().shape, &row = v.inputs[1].type().shape;
    require(row.rank() < x.rank() && std::ranges::equal(x.dims().last(row.dims().size()), row.dims()), "broadcasting");
    OnnxCase c{.opCase = {.op = &kBroadcastAdd}, .expected = {{0, v.outputs[0]}}};
    c.opCase.inputs = {floatInput(v.inputs[0], {x.count() / row.count(), row.count()}),
                       floatInput(v.inputs[1], {row.count()})};
    return c;
}

OnnxCase elementwise(const OnnxVector& v) {
    const bool isRelu = v.op == "Relu";
    require(v.inputs.size() == (isRelu ? 1u : 2u), "not two terms");
    if (!isRelu && v.inputs[0].type().shape != v.inputs[1].type().shape) return broadcastAdd(v);
    for (const HostTensor& input : v.inputs) require(input.type() == v.inputs[0].type(), "broadcasting");
    OnnxCase c{.opCase = {.op = isRelu ? &kRelu : &kAdd}, .expected = {{0, v.outputs[0]}}};
    for (const HostTensor& input : v.inputs) c.opCase.inputs.push_back(floatInput(input));
    return c;
}

OnnxCase view(const OnnxVector& v) {
    const Shape &x = v.inputs[0].type().shape, &y = v.outputs[0].type().shape;
    require(x.count() > 0, "no elements");
    const bool isFlatten = v.op == "Flatten" && v.number("axis", 1) == 1 && x.rank() > 1;
    OnnxCase c{.opCase = {.op = isFlatten ? &kFlatten : &kReshape}, .expected = {{0, v.outputs[0]}}};
    if (!isFlatten) c.opCase.attrs = fixedAttrs(ShapeAttrs{y});
    c.opCase.inputs = {floatInput(v.inputs[0])};
    return c;
}

OnnxCase cast(const OnnxVector& v) {
    const DType to = v.outputs[0].type().dtype;
    OnnxCase c{.opCase = {.op = &kCast, .attrs = fixedAttrs(CastAttrs{to})}, .expected = {{0, v.outputs[0]}}};
    c.opCase.inputs = {{v.inputs[0], ValueRole::Input, true}};
    return c;
}

// N, C, d1, d2...: one row of classes per sample and position.
HostTensor classRows(const HostTensor& scores) {
    const Shape& shape = scores.type().shape;
    const std::int64_t classes = shape[1], positions = shape.count() / shape[0] / classes;
    const Values from = valuesOf(scores);
    Values rows;
    for (std::int64_t n = 0; n < shape[0]; ++n)
        for (std::int64_t d = 0; d < positions; ++d)
            for (std::int64_t c = 0; c < classes; ++c)
                rows.push_back(from[static_cast<std::size_t>((n * classes + c) * positions + d)]);
    return tensorOf({shape[0] * positions, classes}, rows);
}

CaseInput labelsFrom(const Values& values) { return CaseInputs::labelsGiven({values.begin(), values.end()}); }

OnnxCase loss(const OnnxVector& v) {
    require(v.inputs.size() == 2, "class weights");
    const Values labels = valuesOf(v.inputs[1]);
    const auto ignored = v.numbers.find("ignore_index");
    const bool ignores = ignored != v.numbers.end() && std::ranges::count(labels, ignored->second[0]) > 0;
    require(!ignores, "ignored labels");
    const HostTensor rows = classRows(v.inputs[0]);
    double sum = 0;
    for (const double part : valuesOf(v.outputs[0])) sum += part;
    if (v.text("reduction") == "mean" || v.text("reduction").empty()) sum *= static_cast<double>(labels.size());
    OnnxCase c{.opCase = {.op = &kCrossEntropy, .attrs = fixedAttrs(CrossEntropyAttrs{})}};
    c.opCase.inputs = {floatInput(rows), labelsFrom(labels)};
    c.expected = {{0, tensorOf({1}, {&sum, 1})}};
    return c;
}

// Over the last axis: softmax is the loss's gradient plus the target, log-softmax of a class minus its loss.
OnnxCase softmax(const OnnxVector& v) {
    const Shape& shape = v.inputs[0].type().shape;
    const double axis = v.number("axis", -1);
    require(axis == -1 || axis == shape.rank() - 1, "not over the last axis");
    const std::int64_t classes = shape[-1], rows = shape.count() / classes;
    Values expected = valuesOf(v.outputs[0]);
    const bool isLog = v.op == "LogSoftmax";
    double sum = 0;
    for (std::size_t first = 0; first < expected.size(); first += static_cast<std::size_t>(classes)) {
        sum -= expected[first];
        expected[first] -= 1;
    }
    OnnxCase c;
    c.opCase.op = isLog ? &kCrossEntropy : &kCrossEntropyBackward;
    c.opCase.attrs = fixedAttrs(CrossEntropyAttrs{});
    c.opCase.inputs = {floatInput(v.inputs[0], {rows, classes}), labelsFrom(Values(static_cast<std::size_t>(rows), 0))};
    if (!isLog) c.opCase.inputs.push_back(CaseInputs::scalar(1));
    c.expected = {{0, isLog ? tensorOf({1}, {&sum, 1}) : tensorOf({rows, classes}, expected)}};
    return c;
}

// Over the last extents, from an axis on; gamma and beta then have their elements in a row.
OnnxCase layerNorm(const OnnxVector& v) {
    const Shape& x = v.inputs[0].type().shape;
    const int given = static_cast<int>(v.number("axis", -1)), axis = given < 0 ? given + x.rank() : given;
    std::int64_t width = 1;
    for (int i = axis; i < x.rank(); ++i) width *= x[i];
    const std::int64_t rows = x.count() / width;
    OnnxCase c{.opCase = {.op = &kLayerNorm, .attrs = fixedAttrs(LayerNormAttrs{v.number("epsilon", 1e-5)})}};
    c.opCase.inputs = {floatInput(v.inputs[0], {rows, width}), floatInput(v.inputs[1], {width}, ValueRole::Parameter),
                       floatInput(v.inputs[2], {width}, ValueRole::Parameter)};
    for (std::size_t i = 0; i < v.outputs.size(); ++i) c.expected.push_back({i, v.outputs[i]});
    return c;
}

// Where nothing is dropped.
OnnxCase dropout(const OnnxVector& v) {
    require(v.outputs.size() == 1, "a mask comes out");
    require(v.inputs.size() < 3, "training");
    const std::int64_t samples = v.inputs[0].type().shape[0];
    OnnxCase c{.opCase = {.op = &kDropout, .attrs = fixedAttrs(DropoutAttrs{.rate = 0})},
               .expected = {{0, v.outputs[0]}}};
    c.opCase.inputs = {floatInput(v.inputs[0]), CaseInputs("onnx").ids(samples)};
    return c;
}

// silu(x) = x sigmoid(x), and gelu(sqrt(2) x) = (1 + erf(x)) x / sqrt(2)
OnnxCase smoothActivation(const OnnxVector& v) {
    const bool isErf = v.op == "Erf";
    const Values x = valuesOf(v.inputs[0]);
    Values expected = valuesOf(v.outputs[0]);
    for (std::size_t i = 0; i < x.size(); ++i)
        expected[i] = isErf ? (1 + expected[i]) * x[i] / std::sqrt(2) : expected[i] * x[i];
    OnnxCase c{.opCase = {.op = isErf ? &kGelu : &kSilu}};
    c.opCase.inputs = {floatInput(isErf ? scaled(v.inputs[0], std::sqrt(2)) : v.inputs[0])};
    c.expected = {{0, tensorOf(v.outputs[0].type().shape, expected)}};
    return c;
}

OnnxCase matrixProduct(const OnnxVector& v) {
    for (const HostTensor& input : v.inputs) require(input.type().shape.rank() == 2, "more than one product");
    OnnxCase c{.opCase = {.op = &kDense}, .expected = {{0, v.outputs[0]}}};
    c.opCase.inputs = {floatInput(v.inputs[0]), floatInput(transposed(v.inputs[1]), ValueRole::Parameter)};
    return c;
}

// Two neighbouring extents change places, or two groups of them: the rest on the left are samples.
OnnxCase transpose(const OnnxVector& v) {
    const Shape& x = v.inputs[0].type().shape;
    std::vector<double> order = v.numbers.contains("perm") ? v.numbers.at("perm") : std::vector<double>{};
    for (int axis = x.rank(); order.size() < static_cast<std::size_t>(x.rank());) order.push_back(--axis);
    const auto goesOn = [&](std::size_t i) { return i + 1 < order.size() && order[i + 1] == order[i] + 1; };
    std::size_t samples = 0, left;
    while (samples < order.size() && order[samples] == static_cast<double>(samples)) ++samples;
    for (left = samples; goesOn(left);) ++left;
    std::size_t right = left + 1;
    while (goesOn(right)) ++right;
    require(samples < order.size() && right + 1 == order.size(), "not two groups of extents");
    Shape three{1, 1, 1};
    for (std::size_t i = 0; i < order.size(); ++i) {
        const int group = i < samples ? 0 : i <= left ? 2 : 1;
        three = {three[0] * (group == 0 ? x[static_cast<int>(order[i])] : 1),
                 three[1] * (group == 1 ? x[static_cast<int>(order[i])] : 1),
                 three[2] * (group == 2 ? x[static_cast<int>(order[i])] : 1)};
    }
    OnnxCase c{.opCase = {.op = &kTranspose}, .expected = {{0, v.outputs[0]}}};
    c.opCase.inputs = {floatInput(v.inputs[0], three)};
    return c;
}

using Translate = OnnxCase (*)(const OnnxVector&);
const std::map<std::string, Translate>& translations() {
    static const std::map<std::string, Translate> table{
        {"Conv", conv},
        {"AveragePool", pool},
        {"MaxPool", pool},
        {"GlobalAveragePool", globalPool},
        {"Gemm", gemm},
        {"BatchNormalization", batchNorm},
        {"Relu", elementwise},
        {"Add", elementwise},
        {"Sum", elementwise},
        {"Flatten", view},
        {"Reshape", view},
        {"Squeeze", view},
        {"Unsqueeze", view},
        {"Dropout", dropout},
        {"Erf", smoothActivation},
        {"LayerNormalization", layerNorm},
        {"MatMul", matrixProduct},
        {"Sigmoid", smoothActivation},
        {"Transpose", transpose},
        {"Cast", cast},
        {"Softmax", softmax},
        {"LogSoftmax", softmax},
        {"SoftmaxCrossEntropyLoss", loss},
    };
    return table;
}

// Inputs of an update: rate, count, then all weights, all gradients, then each state's tensors, to be seen as one
// slice.
Values joined(const std::vector<HostTensor>& tensors, std::size_t first, std::size_t count) {
    Values values;
    for (std::size_t i = first; i < first + count; ++i)
        std::ranges::copy(valuesOf(tensors[i]), std::back_inserter(values));
    return values;
}

void fillMomentum(const OnnxVector& v, double count, OnnxUpdate& update) {
    require(count == 0 || v.number("beta", 1) == 1, "dampening");
    UpdateRule& rule = update.updateCase.rule;
    rule.momentum = v.number("alpha", 0);
    rule.nesterov = v.text("mode") == "nesterov";
    rule.weightDecay = v.number("norm_coefficient", 0);
}

// ONNX leaves the bias corrections out at count 0, and has its weight decay in the gradient. Our rule takes both once
// the learning rate and epsilon have taken the corrections of update number 1 back.
void fillAdam(const OnnxVector& v, double count, OnnxUpdate& update) {
    require(count == 0 && v.number("norm_coefficient_post", 0) == 0, "a later update");
    UpdateCase& c = update.updateCase;
    c.rule.kind = UpdateRule::Kind::AdamW;
    c.rule.beta1 = v.number("alpha", 0.9);
    c.rule.beta2 = v.number("beta", 0.999);
    c.learningRate *= (1 - c.rule.beta1) / std::sqrt(1 - c.rule.beta2);
    // The vector that does not state its epsilon was made with this one (onnx/backend/test/case/node/adam.py).
    c.rule.epsilon = v.number("epsilon", 1e-2) / std::sqrt(1 - c.rule.beta2);
    for (std::size_t i = 0; i < c.weights.size(); ++i)
        c.gradients[0][i] += v.number("norm_coefficient", 0) * c.weights[i];
}

OnnxUpdate updateFrom(const OnnxVector& v) {
    require(v.op != "Adagrad", "no such update rule");
    const std::size_t states = v.op == "Adam" ? 2 : 1, tensors = (v.inputs.size() - 2) / (2 + states);
    OnnxUpdate update;
    UpdateCase& c = update.updateCase;
    c.learningRate = valuesOf(v.inputs[0])[0];
    c.weight = 1;
    c.weights = joined(v.inputs, 2, tensors);
    c.gradients = {joined(v.inputs, 2 + tensors, tensors)};
    c.segments = {{0, c.weights.size(), true}};
    update.weights = joined(v.outputs, 0, tensors);
    for (std::size_t state = 1; state <= states; ++state) {
        c.states.push_back(joined(v.inputs, 2 + (1 + state) * tensors, tensors));
        update.states.push_back(joined(v.outputs, state * tensors, tensors));
    }
    const double count = valuesOf(v.inputs[1])[0];
    v.op == "Adam" ? fillAdam(v, count, update) : fillMomentum(v, count, update);
    return update;
}

}  // namespace

bool isOurs(const OnnxVector& vector) { return translations().contains(vector.op); }

OnnxCase translated(const OnnxVector& vector) {
    try {
        require(vector.whyNot.empty(), vector.whyNot);
        OnnxCase found = translations().at(vector.op)(vector);
        found.opCase.name = vector.name;
        return found;
    } catch (const NotMapped& reason) {
        return {.whyNot = reason.why};
    }
}

bool isUpdate(const OnnxVector& vector) {
    return vector.op == "Adam" || vector.op == "Momentum" || vector.op == "Adagrad";
}

OnnxUpdate translatedUpdate(const OnnxVector& vector) {
    try {
        require(vector.whyNot.empty(), vector.whyNot);
        OnnxUpdate found = updateFrom(vector);
        found.updateCase.name = vector.name;
        return found;
    } catch (const NotMapped& reason) {
        return {.whyNot = reason.why};
    }
}

std::string lineOf(const OnnxVector& vector) {
    if (vector.op.empty()) return vector.name + ": " + vector.whyNot;
    if (!isOurs(vector) && !isUpdate(vector)) return vector.op + ": no such op here";
    const std::string why = isUpdate(vector) ? translatedUpdate(vector).whyNot : translated(vector).whyNot;
    return why.empty() ? vector.name : vector.name + ": " + why;
}

}  // namespace lockstep::test
