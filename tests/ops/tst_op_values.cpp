#include <QtTest>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/backend/reference/reference_backend.h"
#include "engine/core/error.h"
#include "engine/core/random.h"
#include "engine/ops/activation.h"
#include "engine/ops/attention.h"
#include "engine/ops/batch_norm.h"
#include "engine/ops/conv2d.h"
#include "engine/ops/dense.h"
#include "engine/ops/dropout.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/embedding.h"
#include "engine/ops/layer_norm.h"
#include "engine/ops/mixed_loss.h"
#include "engine/ops/op_set.h"
#include "engine/ops/pixels.h"
#include "engine/ops/pool2d.h"
#include "engine/ops/synchronised_norm.h"
#include "engine/ops/tokens.h"
#include "tests/support/case_inputs.h"

using namespace lockstep;
using namespace lockstep::test;

// The reference backend against values worked out by hand, against other formulas for the same thing, and against what
// must hold whatever the values are.
class tst_op_values : public QObject {
    Q_OBJECT
private slots:
    void convolutionByHand();
    void convolutionIsPaddingThenCropping_data();
    void convolutionIsPaddingThenCropping();
    void convolutionGradientsAreAdjoint_data();
    void convolutionGradientsAreAdjoint();
    void dilationSpreadsTheFilter();
    void groupsAreSeparateConvolutions();
    void denseByHand();
    void denseIsAConvolutionOfOnePixel();
    void maxPoolByHand();
    void averagePoolByHand();
    void averagePoolGradientsAreAdjoint();
    void batchNormByHand();
    void batchNormNormalizes();
    void synchronisedNormOfPartsIsThatOfTheWhole_data();
    void synchronisedNormOfPartsIsThatOfTheWhole();
    void layerNormByHand();
    void activationsByHand();
    void elementwiseOpsDoNotSeeTheShape();
    void tokensByHand();
    void embeddingByHand();
    void imagesOfPixelsByHand();
    void coloursOfPixelsByHand();
    void paddingIsNotSeen();
    void attentionOfEqualKeysAveragesValues();
    void causalAttentionSeesWhatCameBefore();
    void crossEntropyByHand();
    void mixedCrossEntropyByHand();
    void crossEntropyGradientSumsToZero();
    void topKByHand();
    void aLogitThatIsNoNumberIsNeverAccurate();
    void maskedRowsDoNotCount();
    void badLabelsAreRefused();
    void numbersOutOfRangeAreRefused();
    void dropoutKeepsItsRate();
    void dropoutFollowsTheSampleNotTheBatch();
    void notANumberIsNotLost();
    void inPlaceChangesNothing();
};

namespace {

using Values = std::vector<double>;

std::vector<HostTensor> apply(const OpDef& op, Attrs attrs, std::vector<CaseInput> inputs,
                              const StepScalars& scalars = {}) {
    const OpCase opCase{.name = "value",
                        .op = &op,
                        .attrs = [attrs](DType) { return attrs; },
                        .inputs = std::move(inputs),
                        .scalars = scalars};
    return runCase(*makeReferenceBackend(), opCase);
}

Values valuesOf(const HostTensor& tensor) {
    const HostTensor doubles = converted(tensor, DType::F64);
    return {doubles.as<double>().begin(), doubles.as<double>().end()};
}

void compareNear(const HostTensor& tensor, const Values& expected) {
    const Values values = valuesOf(tensor);
    QCOMPARE(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i) QVERIFY(std::abs(values[i] - expected[i]) < 1e-12);
}

CaseInput again(const HostTensor& tensor) { return {tensor, ValueRole::Input, tensor.type().dtype != DType::F64}; }
CaseInput of(const Shape& shape, Values values) { return CaseInputs::given(shape, std::move(values)); }

double dot(const HostTensor& a, const HostTensor& b) {
    const auto x = a.as<double>(), y = b.as<double>();
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

bool isClose(double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(1.0, std::abs(b)); }

bool areClose(const Values& a, const Values& b) { return std::ranges::equal(a, b, isClose); }

double& at(HostTensor& tensor, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    const Shape& s = tensor.type().shape;
    return tensor.as<double>()[static_cast<std::size_t>(((n * s[1] + c) * s[2] + h) * s[3] + w)];
}

// The image with a frame of zeros around it.
HostTensor framed(HostTensor x, std::array<int, 2> padding) {
    const Shape& s = x.type().shape;
    HostTensor out({{s[0], s[1], s[2] + 2 * padding[0], s[3] + 2 * padding[1]}, DType::F64});
    for (std::int64_t n = 0; n < s[0]; ++n)
        for (std::int64_t c = 0; c < s[1]; ++c)
            for (std::int64_t h = 0; h < s[2]; ++h)
                for (std::int64_t w = 0; w < s[3]; ++w)
                    at(out, n, c, h + padding[0], w + padding[1]) = at(x, n, c, h, w);
    return out;
}

// Every stride-th row and column.
HostTensor thinned(HostTensor y, std::array<int, 2> stride) {
    const Shape& s = y.type().shape;
    HostTensor out({{s[0], s[1], (s[2] - 1) / stride[0] + 1, (s[3] - 1) / stride[1] + 1}, DType::F64});
    for (std::int64_t n = 0; n < s[0]; ++n)
        for (std::int64_t c = 0; c < s[1]; ++c)
            for (std::int64_t h = 0; h < out.type().shape[2]; ++h)
                for (std::int64_t w = 0; w < out.type().shape[3]; ++w)
                    at(out, n, c, h, w) = at(y, n, c, h * stride[0], w * stride[1]);
    return out;
}

void addSmallConvolutions() {
    QTest::addColumn<const OpCase*>("opCase");
    for (const OpCase* opCase : casesOf(kConv2d))
        if (opCase->inputs[0].tensor.type().shape.count() < 2000) QTest::newRow(opCase->name.c_str()) << opCase;
}

}  // namespace

void tst_op_values::convolutionByHand() {
    const auto y = apply(kConv2d, Attrs::of(Conv2dAttrs{.padding = {1, 0}}),
                         {of({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}), of({1, 1, 3, 2}, {1, -1, 2, 0, 0, 1}), of({1}, {10})});
    // First row: 2 * [1 2] + [5 6]; second row: [1 2] - [2 3] + 2 * [4 5].
    QCOMPARE(valuesOf(y[0]), (Values{10 + 2 + 5, 10 + 4 + 6, 10 - 1 + 8, 10 - 1 + 10}));
}

void tst_op_values::convolutionIsPaddingThenCropping_data() { addSmallConvolutions(); }

// A padded, strided convolution is an unpadded one of the framed image of which some rows and columns are kept.
void tst_op_values::convolutionIsPaddingThenCropping() {
    QFETCH(const OpCase*, opCase);
    const auto attrs = opCase->attrs(DType::F64).as<Conv2dAttrs>();
    Conv2dAttrs plain = attrs;
    plain.padding = {0, 0};
    plain.stride = {1, 1};
    std::vector<CaseInput> inputs = opCase->inputs;
    inputs[0].tensor = framed(inputs[0].tensor, attrs.padding);
    const auto whole = apply(kConv2d, Attrs::of(plain), inputs);
    const auto direct = runCase(*makeReferenceBackend(), *opCase);
    QCOMPARE(relativeError(thinned(whole[0], attrs.stride), direct[0]), 0.0);
}

void tst_op_values::convolutionGradientsAreAdjoint_data() { addSmallConvolutions(); }

// y is linear in x and in w: <conv(x, w), dy> = <x, dx> = <w, dw> for every dy.
void tst_op_values::convolutionGradientsAreAdjoint() {
    QFETCH(const OpCase*, opCase);
    const auto attrs = opCase->attrs(DType::F64).as<Conv2dAttrs>();
    const CaseInput &x = opCase->inputs[0], &w = opCase->inputs[1];
    const auto y = apply(kConv2d, Attrs::of(attrs), {x, w});
    const CaseInput dy = CaseInputs("adjoint").normal(y[0].type().shape);
    const auto backward = [&](const CaseInput& like) {
        return Attrs::of(Conv2dBackwardAttrs{attrs, like.tensor.type().shape});
    };
    const auto dx = apply(kConv2dBackwardData, backward(x), {dy, w});
    const auto dw = apply(kConv2dBackwardWeights, backward(w), {x, dy});
    const double expected = dot(y[0], dy.tensor);
    QVERIFY(isClose(dot(x.tensor, dx[0]), expected));
    QVERIFY(isClose(dot(w.tensor, dw[0]), expected));
}

void tst_op_values::dilationSpreadsTheFilter() {
    CaseInputs in("dilation");
    const CaseInput x = in.normal({2, 1, 7, 8});
    const auto dilated =
        apply(kConv2d, Attrs::of(Conv2dAttrs{.dilation = {2, 3}}), {x, of({1, 1, 2, 2}, {1, 2, 3, 4})});
    const auto spread =
        apply(kConv2d, Attrs::of(Conv2dAttrs{}), {x, of({1, 1, 3, 4}, {1, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 4})});
    QCOMPARE(relativeError(dilated[0], spread[0]), 0.0);
}

void tst_op_values::groupsAreSeparateConvolutions() {
    CaseInputs in("groups");
    const CaseInput x = in.normal({1, 4, 5, 5}), w = in.normal({6, 2, 3, 3});
    const auto grouped = valuesOf(apply(kConv2d, Attrs::of(Conv2dAttrs{.groups = 2}), {x, w})[0]);
    Values separate;
    for (std::size_t group = 0; group < 2; ++group) {
        const auto half = [&](const CaseInput& input, const Shape& shape) {
            const Values all = valuesOf(input.tensor);
            const auto begin = all.begin() + static_cast<std::ptrdiff_t>(group * all.size() / 2);
            return of(shape, Values(begin, begin + static_cast<std::ptrdiff_t>(all.size() / 2)));
        };
        const auto y = apply(kConv2d, Attrs::of(Conv2dAttrs{}), {half(x, {1, 2, 5, 5}), half(w, {3, 2, 3, 3})});
        std::ranges::copy(valuesOf(y[0]), std::back_inserter(separate));
    }
    QCOMPARE(grouped, separate);
}

void tst_op_values::denseByHand() {
    const CaseInput x = of({2, 3}, {1, 2, 3, 4, 5, 6}), w = of({2, 3}, {1, 0, -1, 2, 1, 0}),
                    dy = of({2, 2}, {1, 2, 3, 4});
    QCOMPARE(valuesOf(apply(kDense, {}, {x, w, of({2}, {10, 20})})[0]), (Values{8, 24, 8, 33}));
    QCOMPARE(valuesOf(apply(kDense, {}, {x, w})[0]), (Values{-2, 4, -2, 13}));
    QCOMPARE(valuesOf(apply(kDenseBackwardData, {}, {dy, w})[0]), (Values{5, 2, -1, 11, 4, -3}));
    QCOMPARE(valuesOf(apply(kDenseBackwardWeights, {}, {x, dy})[0]), (Values{13, 17, 21, 18, 24, 30}));
    QCOMPARE(valuesOf(apply(kDenseBackwardBias, {}, {dy})[0]), (Values{4, 6}));
}

void tst_op_values::denseIsAConvolutionOfOnePixel() {
    CaseInputs in("one-pixel");
    CaseInput x = in.normal({3, 5}), w = in.normal({4, 5}), bias = in.normal({4});
    const Values dense = valuesOf(apply(kDense, {}, {x, w, bias})[0]);
    const auto conv = apply(kConv2d, Attrs::of(Conv2dAttrs{}),
                            {of({3, 5, 1, 1}, valuesOf(x.tensor)), of({4, 5, 1, 1}, valuesOf(w.tensor)), bias});
    QCOMPARE(valuesOf(conv[0]), dense);
}

void tst_op_values::maxPoolByHand() {
    const Pool2dAttrs attrs{.window = {2, 2}, .stride = {1, 2}, .padding = {1, 0}};
    const CaseInput x = of({1, 1, 2, 4}, {-1, -2, -5, -5, -3, -1, -5, -4});
    const auto y = apply(kMaxPool2d, Attrs::of(attrs), {x});
    QCOMPARE(valuesOf(y[0]), (Values{-1, -5, -1, -4, -1, -4}));
    QCOMPARE(valuesOf(y[1]), (Values{2, 2, 0, 3, 1, 1}));  // of equal maxima the first
    const auto dx = apply(kMaxPool2dBackward, Attrs::of(Pool2dBackwardAttrs{attrs, {1, 1, 2, 4}}),
                          {of({1, 1, 3, 2}, {1, 10, 100, 1000, 1e4, 1e5}), again(y[1])});
    QCOMPARE(valuesOf(dx[0]), (Values{101, 0, 10, 0, 0, 1e4, 0, 101000}));
}

void tst_op_values::averagePoolByHand() {
    Pool2dAttrs attrs{.window = {2, 2}, .stride = {2, 2}, .padding = {1, 1}};
    const CaseInput x = of({1, 1, 2, 2}, {4, 8, 12, 16});
    QCOMPARE(valuesOf(apply(kAveragePool2d, Attrs::of(attrs), {x})[0]), (Values{4, 8, 12, 16}));
    attrs.countPadding = true;
    QCOMPARE(valuesOf(apply(kAveragePool2d, Attrs::of(attrs), {x})[0]), (Values{1, 2, 3, 4}));
    QCOMPARE(valuesOf(apply(kGlobalAveragePool2d, {}, {x})[0]), (Values{10}));
    const auto dx = apply(kGlobalAveragePool2dBackward, Attrs::of(ShapeAttrs{{1, 1, 2, 2}}), {of({1, 1}, {2})});
    QCOMPARE(valuesOf(dx[0]), (Values{0.5, 0.5, 0.5, 0.5}));
}

void tst_op_values::averagePoolGradientsAreAdjoint() {
    for (const OpCase* opCase : casesOf(kAveragePool2d)) {
        const HostTensor& x = opCase->inputs[0].tensor;
        const auto y = runCase(*makeReferenceBackend(), *opCase);
        const CaseInput dy = CaseInputs("adjoint").normal(y[0].type().shape);
        const Pool2dBackwardAttrs attrs{opCase->attrs(DType::F64).as<Pool2dAttrs>(), x.type().shape};
        const auto dx = apply(kAveragePool2dBackward, Attrs::of(attrs), {dy});
        QVERIFY2(isClose(dot(x, dx[0]), dot(y[0], dy.tensor)), opCase->name.c_str());
    }
}

void tst_op_values::batchNormByHand() {
    // One channel of four values: mean 2.5, biased variance 1.25, unbiased 5/3.
    const BatchNormAttrs attrs{.epsilon = 0.3125, .momentum = 0.25};
    const auto out = apply(kBatchNormTrain, Attrs::of(attrs),
                           {of({4, 1}, {1, 2, 3, 4}), of({1}, {5}), of({1}, {-1}), of({1}, {8}), of({1}, {1})});
    const double std = std::sqrt(1.5625);
    QVERIFY(areClose(valuesOf(out[0]), {-1 - 7.5 / std, -1 - 2.5 / std, -1 + 2.5 / std, -1 + 7.5 / std}));
    QVERIFY(areClose(valuesOf(out[1]), {2.5}));
    QVERIFY(areClose(valuesOf(out[2]), {0.8}));
    QVERIFY(areClose(valuesOf(out[3]), {0.75 * 8 + 0.25 * 2.5}));
    QVERIFY(areClose(valuesOf(out[4]), {0.75 + 0.25 * 5 / 3}));
    const auto y = apply(kBatchNormEval, Attrs::of(BatchNormAttrs{.epsilon = 0.5}),
                         {of({2, 1}, {1, 4}), of({1}, {3}), of({1}, {0.5}), of({1}, {1}), of({1}, {1.75})});
    QVERIFY(areClose(valuesOf(y[0]), {0.5, 0.5 + 9 / 1.5}));
    // A single value has no unbiased variance: the biased one, zero, is used.
    const auto single = apply(kBatchNormTrain, Attrs::of(BatchNormAttrs{}),
                              {of({1, 1}, {7}), of({1}, {2}), of({1}, {3}), of({1}, {0}), of({1}, {1})});
    QVERIFY(areClose(valuesOf(single[0]), {3}));
    QVERIFY(areClose(valuesOf(single[4]), {0.9}));
}

void tst_op_values::batchNormNormalizes() {
    CaseInputs in("normalize");
    const CaseInput ones = of({3}, {1, 1, 1}), zeros = of({3}, {0, 0, 0}),
                    x = in.normal({5, 3, 4, 4}, ValueRole::Input, 3, 7);
    const auto y = apply(kBatchNormTrain, Attrs::of(BatchNormAttrs{.epsilon = 1e-30}), {x, ones, zeros, zeros, ones});
    double sum = 0, squares = 0;
    for (const double value : valuesOf(y[0])) sum += value, squares += value * value;
    QVERIFY(std::abs(sum) < 1e-10);
    QVERIFY(isClose(squares, 5 * 3 * 16));
    // Shifting and scaling x changes nothing, so the gradient is orthogonal to both.
    const auto dx = apply(kBatchNormBackward, {}, {x, ones, again(y[1]), again(y[2]), in.normal({5, 3, 4, 4})});
    const Values gradients = valuesOf(dx[0]);
    QVERIFY(std::abs(std::accumulate(gradients.begin(), gradients.end(), 0.0)) < 1e-10);
    QVERIFY(std::abs(dot(dx[0], y[0])) < 1e-10);
}

namespace {

// Samples `begin` to `end` of a batch.
CaseInput samplesOf(const CaseInput& batch, std::int64_t begin, std::int64_t end) {
    const Shape& shape = batch.tensor.type().shape;
    const std::int64_t each = shape.count() / shape[0];
    const auto all = batch.tensor.as<double>();
    std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
    dims[0] = end - begin;
    return CaseInputs::given(Shape(dims), Values(all.begin() + begin * each, all.begin() + end * each));
}

// Added up over the parts, as an all-reduce does it.
CaseInput sumOf(const std::vector<std::vector<HostTensor>>& parts) {
    Values sum = valuesOf(parts.front()[0]);
    for (std::size_t p = 1; p < parts.size(); ++p) {
        const Values part = valuesOf(parts[p][0]);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
    }
    return of({static_cast<std::int64_t>(sum.size())}, sum);
}

Values joined(const std::vector<std::vector<HostTensor>>& parts, std::size_t output) {
    Values all;
    for (const auto& part : parts) {
        const Values values = valuesOf(part[output]);
        all.insert(all.end(), values.begin(), values.end());
    }
    return all;
}

}  // namespace

void tst_op_values::synchronisedNormOfPartsIsThatOfTheWhole_data() {
    QTest::addColumn<std::vector<int>>("counts");
    QTest::newRow("one part") << std::vector{6};
    QTest::newRow("halves") << std::vector{3, 3};
    QTest::newRow("unequal") << std::vector{1, 4, 1};
    QTest::newRow("single samples") << std::vector{1, 1, 1, 1, 1, 1};
}

void tst_op_values::synchronisedNormOfPartsIsThatOfTheWhole() {
    QFETCH(std::vector<int>, counts);
    for (const Shape& shape : {Shape{6, 3, 4, 5}, Shape{6, 4}}) {
        CaseInputs in("parts");
        const Shape channels{shape[1]};
        const CaseInput x = in.normal(shape, ValueRole::Input, 2, 9), dy = in.normal(shape);
        const CaseInput gamma = in.normal(channels), beta = in.normal(channels), mean = in.normal(channels),
                        variance = in.positive(channels);
        const Attrs attrs = Attrs::of(BatchNormAttrs{});
        const auto whole = apply(kBatchNormTrain, attrs, {x, gamma, beta, mean, variance});
        const auto gradients = apply(kBatchNormBackward, {}, {x, gamma, again(whole[1]), again(whole[2]), dy});

        std::vector<CaseInput> xs, dys;
        std::vector<std::vector<HostTensor>> sums, norms, backwardSums, backward;
        std::int64_t begin = 0;
        for (const int count : counts) {
            xs.push_back(samplesOf(x, begin, begin + count));
            dys.push_back(samplesOf(dy, begin, begin + count));
            sums.push_back(apply(kBatchNormSums, {}, {xs.back(), mean}));
            begin += count;
        }
        for (const CaseInput& part : xs)
            norms.push_back(apply(kBatchNormTrainFromSums, attrs, {part, gamma, beta, mean, variance, sumOf(sums)}));
        QVERIFY(areClose(joined(norms, 0), valuesOf(whole[0])));
        for (const auto& part : norms)
            for (std::size_t i = 1; i < 5; ++i) QVERIFY(areClose(valuesOf(part[i]), valuesOf(whole[i])));

        for (std::size_t p = 0; p < xs.size(); ++p)
            backwardSums.push_back(
                apply(kBatchNormBackwardSums, {}, {xs[p], again(norms[p][1]), again(norms[p][2]), dys[p]}));
        for (std::size_t p = 0; p < xs.size(); ++p)
            backward.push_back(
                apply(kBatchNormBackwardFromSums, {},
                      {xs[p], gamma, again(norms[p][1]), again(norms[p][2]), dys[p], sumOf(backwardSums)}));
        QVERIFY(areClose(joined(backward, 0), valuesOf(gradients[0])));
        for (std::size_t c = 0; c < static_cast<std::size_t>(shape[1]); ++c) {
            double dgamma = 0, dbeta = 0;
            for (const auto& part : backwardSums) {
                dgamma += valuesOf(part[1])[c];
                dbeta += valuesOf(part[2])[c];
            }
            QVERIFY(isClose(dgamma, valuesOf(gradients[1])[c]));
            QVERIFY(isClose(dbeta, valuesOf(gradients[2])[c]));
        }
    }
}

void tst_op_values::layerNormByHand() {
    const auto y =
        apply(kLayerNorm, Attrs::of(LayerNormAttrs{1}), {of({2, 2}, {1, 3, 5, 5}), of({2}, {2, 1}), of({2}, {0, 10})});
    compareNear(y[1], {2, 5});
    compareNear(y[2], {std::sqrt(0.5), 1});
    compareNear(y[0], {-2 * std::sqrt(0.5), 10 + std::sqrt(0.5), 0, 10});
}

void tst_op_values::activationsByHand() {
    const CaseInput x = of({1, 3}, {-1, 0, 1});
    compareNear(apply(kGelu, {}, {x})[0], {-0.158655253931457051, 0, 0.841344746068542949});
    compareNear(apply(kSilu, {}, {x})[0], {-0.268941421369995120, 0, 0.731058578630004880});
}

// Which is what lowerings may rely on.
void tst_op_values::elementwiseOpsDoNotSeeTheShape() {
    for (const OpDef* op : opSet()) {
        if (!op->isElementwise) continue;
        for (const OpCase* opCase : casesOf(*op)) {
            OpCase flat = *opCase;
            for (CaseInput& input : flat.inputs) {
                QVERIFY2(input.tensor.type() == opCase->inputs[0].tensor.type(), opCase->name.c_str());
                input.tensor = of({input.tensor.type().shape.count()}, valuesOf(input.tensor)).tensor;
            }
            const auto y = runCase(*makeReferenceBackend(), *opCase), flatY = runCase(*makeReferenceBackend(), flat);
            QVERIFY2(y[0].type() == opCase->inputs[0].tensor.type(), opCase->name.c_str());
            QVERIFY2(std::ranges::equal(y[0].as<std::int64_t>(), flatY[0].as<std::int64_t>()), opCase->name.c_str());
        }
    }
}

void tst_op_values::tokensByHand() {
    QCOMPARE(valuesOf(apply(kTranspose, {}, {of({2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})})[0]),
             (Values{1, 4, 2, 5, 3, 6, 7, 10, 8, 11, 9, 12}));
    QCOMPARE(valuesOf(apply(kBroadcastAdd, {}, {of({2, 2}, {1, 2, 3, 4}), of({2}, {10, 20})})[0]),
             (Values{11, 22, 13, 24}));
    QCOMPARE(valuesOf(apply(kBroadcastAdd, {}, {of({1, 2, 1}, {1, 2}), of({3, 1}, {10, 20, 30})})[0]),
             (Values{11, 22}));
    QCOMPARE(valuesOf(apply(kPad, Attrs::of(ShapeAttrs{{2, 2}}), {of({3}, {1, 2, 3})})[0]), (Values{1, 2, 3, 0}));
    const CaseInput lengths = CaseInputs::labelsGiven({1, 2});
    QCOMPARE(valuesOf(apply(kSequenceMean, {}, {of({2, 2, 2}, {1, 2, 30, 40, 5, 6, 7, 10}), lengths})[0]),
             (Values{1, 2, 6, 8}));
    QCOMPARE(valuesOf(apply(kSequenceMeanBackward, Attrs::of(ShapeAttrs{{2, 2, 2}}),
                            {of({2, 2}, {1, 2, 6, 8}), lengths})[0]),
             (Values{1, 2, 0, 0, 3, 4, 3, 4}));
}

void tst_op_values::embeddingByHand() {
    const CaseInput tokens = CaseInputs::labelsGiven({1, 3}, {2, 0, 2});
    QCOMPARE(valuesOf(apply(kEmbedding, {}, {tokens, of({3, 2}, {1, 2, 3, 4, 5, 6})})[0]), (Values{5, 6, 1, 2, 5, 6}));
    QCOMPARE(valuesOf(apply(kEmbeddingBackward, Attrs::of(EmbeddingBackwardAttrs{3}),
                            {tokens, of({1, 3, 2}, {1, 2, 3, 4, 5, 6})})[0]),
             (Values{3, 4, 0, 0, 6, 8}));
}

// Two images of 1 x 2 x 3 are kept. The first sample is the second image, shifted to the left by one and mirrored, its
// first pixel blank; the next is a quarter of the first image and three quarters of the second. Of the last two, one is
// the first image with a box of the second, the other the second with a box of the first.
void tst_op_values::imagesOfPixelsByHand() {
    const ImageRecipe first{.source = 1, .dx = 1, .mirrored = 1, .hole = {0, 0, 1, 1}}, plain, other{.source = 1},
        plainPasted{.pasted = {1, 0, 2, 3}}, otherPasted{.source = 1, .pasted = {0, 1, 2, 2}};
    const std::array recipes{first, first, plain, other, plain, otherPasted, plainPasted, other};
    std::vector<int> numbers(recipes.size() * kRecipeNumbers);
    std::memcpy(numbers.data(), recipes.data(), sizeof recipes);
    CaseInput pixels{HostTensor({{2, 1, 2, 3}, DType::U8}), ValueRole::Input, true};
    std::ranges::copy(std::array<std::uint8_t, 12>{0, 255, 0, 0, 0, 255, 51, 102, 153, 204, 255, 0},
                      pixels.tensor.as<std::uint8_t>().begin());
    const PixelsAttrs attrs{.mean = {0.5f}, .deviation = {0.5f}, .gathers = true, .to = DType::F64};
    const Values made = valuesOf(
        apply(kPixelsToImages, Attrs::of(attrs),
              {CaseInputs::labelsGiven({4, 2 * kRecipeNumbers}, numbers), pixels, of({4}, {1, 0.25, 0.6, 0.5})})[0]);
    const Values wanted{0,  0.2,  -0.2, -1, -1, 1, -0.7, 0.1,  -0.1, 0.2, 0.5, -0.5,
                        -1, -0.2, -1,   -1, 1,  1, -0.6, -0.2, 0.2,  -1,  -1,  1};
    QCOMPARE(made.size(), wanted.size());
    for (std::size_t i = 0; i < made.size(); ++i)
        QVERIFY2(std::abs(made[i] - wanted[i]) < 1e-6, std::to_string(i).c_str());
}

// A pixel of (200, 100, 50) turned by a third of the circle, and its place beside the source, which stays black.
void tst_op_values::coloursOfPixelsByHand() {
    const ImageRecipe recipe{.dx = 1, .jitter = {.steps = ColourJitter::kHue, .hue = 2 * kJitterOne}};
    std::vector<int> numbers(kRecipeNumbers);
    std::memcpy(numbers.data(), &recipe, sizeof recipe);
    CaseInput pixels{HostTensor({{1, 3, 1, 2}, DType::U8}), ValueRole::Input, true};
    std::ranges::copy(std::array<std::uint8_t, 6>{0, 200, 0, 100, 0, 50}, pixels.tensor.as<std::uint8_t>().begin());
    const PixelsAttrs attrs{.mean = {0, 0, 0}, .deviation = {1, 1, 1}, .to = DType::F64};
    const Values made = valuesOf(
        apply(kPixelsToImages, Attrs::of(attrs), {CaseInputs::labelsGiven({1, kRecipeNumbers}, numbers), pixels})[0]);
    const Values wanted{50, 0, 200, 0, 100, 0};
    QCOMPARE(made.size(), wanted.size());
    for (std::size_t i = 0; i < made.size(); ++i) QVERIFY(std::abs(255 * made[i] - wanted[i]) < 1e-4);
}

// What counts of a padded sample is as if the sample ended there, and what pads it gets no gradient.
void tst_op_values::paddingIsNotSeen() {
    for (const bool causal : {false, true}) {
        CaseInputs in("padded");
        const Attrs attrs = Attrs::of(AttentionAttrs{2, causal});
        const CaseInput qkv = in.normal({1, 5, 24}), dy = in.normal({1, 5, 8}), length = CaseInputs::labelsGiven({3});
        const auto first = [](const CaseInput& x, std::int64_t width) {
            const Values values = valuesOf(x.tensor);
            return of({1, 3, width}, {values.begin(), values.begin() + 3 * width});
        };
        const auto padded = apply(kAttention, attrs, {qkv, length}), alone = apply(kAttention, attrs, {first(qkv, 24)});
        Values seen = valuesOf(padded[0]);
        seen.resize(3 * 8);
        compareNear(alone[0], seen);
        Values onlySeen = valuesOf(dy.tensor);
        std::fill(onlySeen.begin() + 3 * 8, onlySeen.end(), 0);
        const Values gradient = valuesOf(
            apply(kAttentionBackward, attrs, {qkv, {padded[0]}, {padded[1]}, of({1, 5, 8}, onlySeen), length})[0]);
        const auto expected = apply(kAttentionBackward, attrs, {first(qkv, 24), {alone[0]}, {alone[1]}, first(dy, 8)});
        compareNear(expected[0], {gradient.begin(), gradient.begin() + 3 * 24});
        for (std::size_t i = 3 * 24; i < gradient.size(); ++i) QCOMPARE(gradient[i], 0.0);
    }
}

// One head of width 1: queries, keys, values side by side in each token.
void tst_op_values::attentionOfEqualKeysAveragesValues() {
    const CaseInput qkv = of({1, 4, 3}, {5, 1, 2, -3, 1, 4, 0, 1, 6, 1, 1, 8});
    const auto all = apply(kAttention, Attrs::of(AttentionAttrs{}), {qkv});
    compareNear(all[0], {5, 5, 5, 5});
    const double logOfFour = std::log(4.0);
    compareNear(all[1], {5 + logOfFour, -3 + logOfFour, logOfFour, 1 + logOfFour});
    compareNear(apply(kAttention, Attrs::of(AttentionAttrs{1, true}), {qkv})[0], {2, 3, 4, 5});
}

void tst_op_values::causalAttentionSeesWhatCameBefore() {
    CaseInputs in("causal");
    const CaseInput qkv = in.normal({1, 5, 24});
    const Values values = valuesOf(qkv.tensor);
    const Values causal = valuesOf(apply(kAttention, Attrs::of(AttentionAttrs{2, true}), {qkv})[0]);
    for (std::int64_t tokens = 1; tokens <= 5; ++tokens) {
        const Values prefix(values.begin(), values.begin() + tokens * 24);
        const CaseInput before = of({1, tokens, 24}, prefix);
        const Values alone = valuesOf(apply(kAttention, Attrs::of(AttentionAttrs{2}), {before})[0]);
        for (std::size_t i = 0; i < 8; ++i) {
            const std::size_t last = static_cast<std::size_t>(tokens - 1) * 8 + i;
            QVERIFY(std::abs(alone[last] - causal[last]) < 1e-12);
        }
    }
}

void tst_op_values::crossEntropyByHand() {
    const CaseInput equal = of({2, 4}, Values(8, 1.5)), labels = CaseInputs::labelsGiven({0, 3});
    for (const double smoothing : {0.0, 0.2}) {
        const auto loss = apply(kCrossEntropy, Attrs::of(CrossEntropyAttrs{smoothing}), {equal, labels});
        QVERIFY(areClose(valuesOf(loss[0]), {2 * std::log(4)}));
        QCOMPARE(valuesOf(loss[1]), (Values{2}));
    }
    // softmax(ln 1, ln 3) = (1/4, 3/4); with smoothing 0.5 the target of label 1 is (1/4, 3/4) too.
    const CaseInput logits = of({1, 2}, {0, std::log(3)}), one = CaseInputs::labelsGiven({1});
    QVERIFY(areClose(valuesOf(apply(kCrossEntropy, Attrs::of(CrossEntropyAttrs{}), {logits, one})[0]),
                     {std::log(4.0 / 3)}));
    const auto backward = [&](double smoothing) {
        return valuesOf(apply(kCrossEntropyBackward, Attrs::of(CrossEntropyAttrs{smoothing}),
                              {logits, one, CaseInputs::scalar(2)})[0]);
    };
    QVERIFY(areClose(backward(0), {0.5, -0.5}));
    QVERIFY(areClose(backward(0.5), {0, 0}));
}

// lambda CE(label) + (1 - lambda) CE(other), sample by sample.
void tst_op_values::mixedCrossEntropyByHand() {
    // softmax (1/4, 3/4): the losses are ln 4 and ln 4/3.
    const CaseInput logits = of({2, 2}, {0, std::log(3), 0, std::log(3)}), labels = CaseInputs::labelsGiven({1, 0}),
                    others = CaseInputs::labelsGiven({0, 0}), lambda = of({2}, {0.75, 0.5});
    const auto run = [&](const OpDef& op, double smoothing, std::vector<CaseInput> more) {
        std::vector<CaseInput> inputs{logits, labels, others, lambda};
        inputs.insert(inputs.end(), more.begin(), more.end());
        return apply(op, Attrs::of(CrossEntropyAttrs{.smoothing = smoothing}), inputs);
    };
    const auto loss = run(kMixedCrossEntropy, 0, {});
    QVERIFY(areClose(valuesOf(loss[0]), {0.75 * std::log(4.0 / 3) + 0.25 * std::log(4) + std::log(4)}));
    QCOMPARE(valuesOf(loss[1]), (Values{2}));
    const auto gradient = [&](double smoothing) {
        return valuesOf(run(kMixedCrossEntropyBackward, smoothing, {CaseInputs::scalar(2)})[0]);
    };
    QVERIFY(areClose(gradient(0), {0, 0, -1.5, 1.5}));
    // The targets are then (3/8, 5/8) and (3/4, 1/4).
    QVERIFY(areClose(gradient(0.5), {-0.25, 0.25, -1, 1}));
    // One without a label counts for nothing.
    const CaseInput blank = CaseInputs::labelsGiven({1, -1});
    const Attrs masked = Attrs::of(CrossEntropyAttrs{.smoothing = 0, .masked = true});
    const auto first = apply(kMixedCrossEntropy, masked, {logits, blank, others, lambda});
    QVERIFY(areClose(valuesOf(first[0]), {0.75 * std::log(4.0 / 3) + 0.25 * std::log(4)}));
    QCOMPARE(valuesOf(first[1]), (Values{1}));
    QVERIFY(areClose(
        valuesOf(apply(kMixedCrossEntropyBackward, masked, {logits, blank, others, lambda, CaseInputs::scalar(2)})[0]),
        {0, 0, 0, 0}));
    // With one label, or with lambda 1, it is the plain loss.
    const CaseInput ones = of({2}, {1, 1});
    const auto plain =
        valuesOf(apply(kCrossEntropy, Attrs::of(CrossEntropyAttrs{.smoothing = 0.2}), {logits, labels})[0]);
    for (const auto& [other, share] : {std::pair(labels, lambda), std::pair(others, ones)}) {
        const auto mixed =
            apply(kMixedCrossEntropy, Attrs::of(CrossEntropyAttrs{.smoothing = 0.2}), {logits, labels, other, share});
        QVERIFY(areClose(valuesOf(mixed[0]), plain));
    }
}

void tst_op_values::crossEntropyGradientSumsToZero() {
    for (const OpCase* opCase : casesOf(kCrossEntropyBackward)) {
        const Values d = valuesOf(runCase(*makeReferenceBackend(), *opCase)[0]);
        QVERIFY2(std::abs(std::accumulate(d.begin(), d.end(), 0.0)) < 1e-12, opCase->name.c_str());
    }
}

void tst_op_values::topKByHand() {
    const CaseInput logits = of({3, 4}, {1, 3, 2, 0, 5, 5, 5, 5, 4, 3, 2, 1}),
                    labels = CaseInputs::labelsGiven({1, 2, 3});
    const auto count = [&](int k) {
        return valuesOf(apply(kTopKCount, Attrs::of(TopKAttrs{k}), {logits, labels})[0])[0];
    };
    QCOMPARE(count(1), 1.0);
    QCOMPARE(count(2), 1.0);
    QCOMPARE(count(3), 2.0);
    QCOMPARE(count(4), 3.0);
}

void tst_op_values::aLogitThatIsNoNumberIsNeverAccurate() {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto count = [&](const Values& row, int label, int k) {
        return valuesOf(
            apply(kTopKCount, Attrs::of(TopKAttrs{k}), {of({1, 3}, row), CaseInputs::labelsGiven({label})})[0])[0];
    };
    QCOMPARE(count({nan, 1, 2}, 0, 1), 0.0);
    QCOMPARE(count({nan, 1, 2}, 0, 3), 0.0);
    QCOMPARE(count({nan, 1, 2}, 2, 1), 0.0);
    QCOMPARE(count({nan, 1, 2}, 2, 2), 1.0);
}

void tst_op_values::maskedRowsDoNotCount() {
    const CaseInput all = of({1, 3, 2}, {0, std::log(3), 7, -7, 0, 0}), some = of({2, 2}, {0, std::log(3), 0, 0});
    const CaseInput allLabels = CaseInputs::labelsGiven({1, 3}, {1, -1, 0}),
                    someLabels = CaseInputs::labelsGiven({1, 0});
    for (const double smoothing : {0.0, 0.3}) {
        const Attrs masked = Attrs::of(CrossEntropyAttrs{smoothing, true}),
                    plain = Attrs::of(CrossEntropyAttrs{smoothing});
        const auto loss = apply(kCrossEntropy, masked, {all, allLabels}),
                   same = apply(kCrossEntropy, plain, {some, someLabels});
        compareNear(loss[0], valuesOf(same[0]));
        compareNear(loss[1], {2});
        const Values d = valuesOf(apply(kCrossEntropyBackward, masked, {all, allLabels, CaseInputs::scalar(1)})[0]);
        const Values want = valuesOf(apply(kCrossEntropyBackward, plain, {some, someLabels, CaseInputs::scalar(1)})[0]);
        QVERIFY(areClose(d, {want[0], want[1], 0, 0, want[2], want[3]}));
    }
    QCOMPARE(valuesOf(apply(kTopKCount, Attrs::of(TopKAttrs{1, true}), {all, allLabels})[0])[0], 2.0);
}

void tst_op_values::badLabelsAreRefused() {
    const CaseInput logits = of({2, 3}, Values(6, 0));
    for (const int label : {-1, 3}) {
        try {
            (void)apply(kCrossEntropy, Attrs::of(CrossEntropyAttrs{}), {logits, CaseInputs::labelsGiven({0, label})});
            QFAIL("a label that is no class was used");
        } catch (const EngineError& error) {
            QVERIFY(QString(error.what()).contains(QString("label %1 of sample 1").arg(label)));
        }
    }
}

void tst_op_values::numbersOutOfRangeAreRefused() {
    CaseInputs in("range");
    const CaseInput table = in.normal({4, 2}), qkv = in.normal({2, 3, 6});
    const auto refused = [](const char* what, const OpDef& op, Attrs attrs, std::vector<CaseInput> inputs) {
        try {
            (void)apply(op, std::move(attrs), std::move(inputs));
        } catch (const EngineError& error) {
            return QString(error.what()).contains(what);
        }
        return false;
    };
    for (const int token : {-1, 4})
        QVERIFY(refused(qPrintable(QString("token %1 at place 1").arg(token)), kEmbedding, {},
                        {CaseInputs::labelsGiven({1, 2}, {3, token}), table}));
    for (const int length : {0, 4}) {
        const CaseInput lengths = CaseInputs::labelsGiven({3, length});
        const QString told = QString("length %1 at place 1").arg(length);
        QVERIFY(refused(qPrintable(told), kAttention, Attrs::of(AttentionAttrs{}), {qkv, lengths}));
        QVERIFY(refused(qPrintable(told), kSequenceMean, {}, {qkv, lengths}));
    }
    QVERIFY(refused("label -2", kCrossEntropy, Attrs::of(CrossEntropyAttrs{0, true}),
                    {in.normal({1, 3}), CaseInputs::labelsGiven({-2})}));
}

void tst_op_values::dropoutKeepsItsRate() {
    const Attrs attrs = Attrs::of(DropoutAttrs{0.25, streamOf("a")});
    CaseInputs in("rate");
    const auto y = apply(kDropout, attrs, {of({10, 4000}, Values(40000, 3)), in.ids(10)}, {.seed = 4, .epoch = 1});
    int kept = 0;
    for (const double value : valuesOf(y[0])) {
        QVERIFY(value == 0 || value == 4);
        kept += value != 0;
    }
    // Six standard deviations of a binomial of 40000 trials.
    QVERIFY(std::abs(kept - 30000) < 6 * std::sqrt(40000 * 0.25 * 0.75));
}

void tst_op_values::dropoutFollowsTheSampleNotTheBatch() {
    const Attrs attrs = Attrs::of(DropoutAttrs{0.5, streamOf("a")});
    const auto mask = [&](std::vector<std::int64_t> ids, const StepScalars& scalars) {
        HostTensor tensor({{static_cast<std::int64_t>(ids.size())}, DType::I64});
        std::ranges::copy(ids, tensor.as<std::int64_t>().begin());
        const auto samples = static_cast<std::int64_t>(ids.size());
        return valuesOf(
            apply(kDropout, attrs, {of({samples, 32}, Values(ids.size() * 32, 1)), again(tensor)}, scalars)[0]);
    };
    const Values both = mask({7, 9}, {.seed = 1, .epoch = 2, .step = 3}), alone = mask({9}, {.seed = 1, .epoch = 2});
    QVERIFY(std::equal(alone.begin(), alone.end(), both.begin() + 32));
    QVERIFY(!std::equal(alone.begin(), alone.end(), both.begin()));
    QVERIFY(alone != mask({9}, {.seed = 1, .epoch = 3}));
    QVERIFY(alone != mask({9}, {.seed = 2, .epoch = 2}));
}

// A diverged run must show: no op may turn a NaN into a number.
void tst_op_values::notANumberIsNotLost() {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    QVERIFY(std::isnan(valuesOf(apply(kRelu, {}, {of({1}, {nan})})[0])[0]));
    QVERIFY(std::isnan(valuesOf(apply(kRelu6, {}, {of({1}, {nan})})[0])[0]));
    for (int i = 0; i < 4; ++i) {
        Values values{1, 2, 3, 4};
        values[static_cast<std::size_t>(i)] = nan;
        const CaseInput x = of({1, 1, 2, 2}, values);
        QVERIFY(std::isnan(valuesOf(apply(kMaxPool2d, Attrs::of(Pool2dAttrs{}), {x})[0])[0]));
        const CaseInput logits = of({1, 4}, values), label = CaseInputs::labelsGiven({1});
        QVERIFY(std::isnan(valuesOf(apply(kCrossEntropy, Attrs::of(CrossEntropyAttrs{}), {logits, label})[0])[0]));
    }
}

void tst_op_values::inPlaceChangesNothing() {
    const auto backend = makeReferenceBackend();
    for (const OpCase& opCase : opCases()) {
        if (opCase.op->inplaceInput < 0) continue;
        RunOptions inplace;
        inplace.inplace = true;
        const auto expected = runCase(*backend, opCase), actual = runCase(*backend, opCase, inplace);
        for (std::size_t i = 0; i < expected.size(); ++i)
            QVERIFY2(relativeError(actual[i], expected[i]) == 0, opCase.name.c_str());
    }
}

QTEST_APPLESS_MAIN(tst_op_values)
#include "tst_op_values.moc"
