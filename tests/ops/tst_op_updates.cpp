#include <QtTest>

#include <cmath>

#include "engine/backend/reference/reference_backend.h"
#include "tests/support/update_cases.h"

using namespace lockstep;
using namespace lockstep::test;

// The flat steps of an update on the reference backend, against formulas written down again from the papers.
class tst_op_updates : public QObject {
    Q_OBJECT
private slots:
    void everyOptimizerHasCases();
    void rulesFollowTheirFormulas_data();
    void rulesFollowTheirFormulas();
    void sgdByHand();
    void adamWByHand();
    void larsByHand();
    void muonMakesSingularValuesAlike_data();
    void muonMakesSingularValuesAlike();
    void muonLeavesVectorsTablesAndTheHeadToAdamW();
    void averagesByHand();
    void clippingScalesTheWholeGradient();
    void nothingMovesWhenSomethingIsNotFinite();
    void noWeightMeansNoStep();
    void commitDividesBySamples();
    void scaleMultiplies();
    void addAdds();
};

namespace {

UpdateCase oneElement(const UpdateRule& rule, double weight, std::vector<double> gradients) {
    UpdateCase c;
    c.rule = rule;
    c.segments = {{0, 1, true}};
    c.weights = {weight};
    for (const double g : gradients) c.gradients.push_back({g});
    c.weight = 1;
    return c;
}

struct Expected {
    double theta, average;
};

// Parameter i on its own through all steps, in the papers' notation.
Expected formula(const UpdateCase& c, std::size_t i, bool decays) {
    const UpdateRule& r = c.rule;
    double theta = c.weights[i], m = 0, v = 0, average = theta;
    for (std::size_t t = 1; t <= c.gradients.size(); ++t) {
        double norm = 0;
        for (const double each : c.gradients[t - 1]) norm += each / c.weight * (each / c.weight);
        norm = std::sqrt(norm);
        if (!std::isfinite(norm) || !std::isfinite(c.lossSum)) continue;
        double g = c.gradients[t - 1][i] / c.weight;
        if (r.clipNorm > 0) g *= std::min(1.0, r.clipNorm / norm);
        const double decay = decays ? r.weightDecay : 0;
        if (r.kind == UpdateRule::Kind::Sgd) {
            g += decay * theta;
            m = r.momentum * m + g;
            theta -= c.learningRate * (r.nesterov ? g + r.momentum * m : m);
        } else if (r.kind == UpdateRule::Kind::AdamW) {
            m = r.beta1 * m + (1 - r.beta1) * g;
            v = r.beta2 * v + (1 - r.beta2) * g * g;
            const double mHat = m / (1 - std::pow(r.beta1, t)), vHat = v / (1 - std::pow(r.beta2, t));
            theta = theta - c.learningRate * decay * theta - c.learningRate * mHat / (std::sqrt(vHat) + r.epsilon);
        } else {
            qFatal("%s has no formula here", c.name.c_str());
        }
        const double number = static_cast<double>(t), d = std::min(r.averageDecay, (1 + number) / (10 + number));
        average = d * average + (1 - d) * theta;
    }
    return {theta, average};
}

}  // namespace

void tst_op_updates::everyOptimizerHasCases() {
    for (const UpdateEntry& entry : updateRules()) {
        const UpdateRule::Kind kind = entry.make(ParamValues(entry.params)).kind;
        QVERIFY2(std::ranges::any_of(updateCases(), [&](const UpdateCase& each) { return each.rule.kind == kind; }),
                 entry.name.c_str());
    }
}

void tst_op_updates::rulesFollowTheirFormulas_data() {
    QTest::addColumn<const UpdateCase*>("updateCase");
    for (const UpdateCase& each : updateCases())
        if (!each.rule.needsWholeParameters()) QTest::newRow(each.name.c_str()) << &each;
}

void tst_op_updates::rulesFollowTheirFormulas() {
    QFETCH(const UpdateCase*, updateCase);
    const UpdateResult result = runUpdate(*makeReferenceBackend(), *updateCase);
    const bool averages = updateCase->rule.averageDecay > 0;
    QCOMPARE(result.averages.size(), averages ? result.weights.size() : 0);
    for (const UpdateSegment& segment : updateCase->segments) {
        for (std::size_t i = segment.offset; i < segment.offset + segment.count; ++i) {
            const Expected expected = formula(*updateCase, i, segment.decays);
            QVERIFY(std::abs(result.weights[i] - expected.theta) < 1e-12);
            if (averages) QVERIFY(std::abs(result.averages[i] - expected.average) < 1e-12);
        }
    }
}

// The first average is 2/11 of the initial value and 9/11 of the first update's, whatever the decay asked for.
void tst_op_updates::averagesByHand() {
    UpdateRule rule;
    rule.momentum = 0;
    rule.averageDecay = 0.999;
    UpdateCase c = oneElement(rule, 11, {88});
    // w = 11 - 88 / 8 = 0
    QVERIFY(std::abs(runUpdate(*makeReferenceBackend(), c).averages[0] - 2) < 1e-12);
    c.gradients.push_back({std::numeric_limits<double>::infinity()});
    QVERIFY(std::abs(runUpdate(*makeReferenceBackend(), c).averages[0] - 2) < 1e-12);
    c.gradients = {{0}, {0}, {0}};
    QCOMPARE(runUpdate(*makeReferenceBackend(), c).averages[0], 11.0);
    QCOMPARE(averageDecayAt(0.5, 0), 2.0 / 11);
    QCOMPARE(averageDecayAt(0.5, 7), 0.5);
    QCOMPARE(averageDecayAt(0.999, 1'000'000), 0.999);
}

void tst_op_updates::sgdByHand() {
    UpdateRule rule;
    rule.momentum = 0.5;
    rule.weightDecay = 0.25;
    UpdateCase c = oneElement(rule, 4, {1, 1});
    c.learningRate = 0.5;
    // g = 1 + 1 = 2, v = 2, w = 3; then g = 1.75, v = 2.75, w = 1.625.
    UpdateResult result = runUpdate(*makeReferenceBackend(), c);
    QCOMPARE(result.weights[0], 1.625);
    QCOMPARE(result.states[0][0], 2.75);
    c.rule.nesterov = true;
    // w = 4 - (2 + 1) / 2 = 2.5; then g = 1.625, v = 2.625, w = 2.5 - (1.625 + 1.3125) / 2.
    QCOMPARE(runUpdate(*makeReferenceBackend(), c).weights[0], 1.03125);
    c.segments[0].decays = false;
    c.rule.nesterov = false;
    // v = 1, w = 3.5; v = 1.5, w = 2.75.
    QCOMPARE(runUpdate(*makeReferenceBackend(), c).weights[0], 2.75);
}

// The bias corrections make the first step a full learning rate, whatever the gradient's size.
void tst_op_updates::adamWByHand() {
    UpdateRule rule;
    rule.kind = UpdateRule::Kind::AdamW;
    rule.epsilon = 1e-30;
    for (const double gradient : {1e-6, -3.0, 1e6}) {
        const UpdateResult result = runUpdate(*makeReferenceBackend(), oneElement(rule, 2, {gradient}));
        QVERIFY(std::abs(result.weights[0] - (2 - std::copysign(0.125, gradient))) < 1e-12);
    }
}

void tst_op_updates::larsByHand() {
    static const Value w{.name = "w", .type = {{2}, DType::F32}, .role = ValueRole::Parameter};
    UpdateCase c{.rule = {.kind = UpdateRule::Kind::Lars, .momentum = 0.5, .trust = 0.5, .weightDecay = 1}};
    c.segments = {{0, 2, true, &w}};
    c.weights = {3, 4};
    c.gradients = {{0, 10}};
    c.weight = 2;
    c.learningRate = 3;
    // g = (0, 5): the own rate is 0.5 x 5 / (5 + 5) = 1/4, v = 3/4 (3, 4 + 5)
    UpdateResult result = runUpdate(*makeReferenceBackend(), c);
    QCOMPARE(result.weights, (std::vector{3 - 2.25, 4 - 6.75}));
    QCOMPARE(result.states[0], (std::vector{2.25, 6.75}));
    c.segments[0].decays = false;
    QCOMPARE(runUpdate(*makeReferenceBackend(), c).weights, (std::vector{3.0, 4.0 - 15}));
}

// Column k of the orthogonal cosine transform.
double cosine(std::size_t size, std::size_t i, std::size_t k) {
    const double n = static_cast<double>(size), pi = std::acos(-1.0);
    return std::sqrt((k == 0 ? 1 : 2) / n) * std::cos(pi * (static_cast<double>(i) + 0.5) * static_cast<double>(k) / n);
}

// a(i, j) = sum over k of u(i, k) value(k) v(j, k), u and v orthogonal
std::vector<double> withSingularValues(std::size_t rows, std::size_t columns, const std::vector<double>& values) {
    std::vector<double> a(rows * columns, 0.0);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
            for (std::size_t k = 0; k < values.size(); ++k)
                a[i * columns + j] += cosine(rows, i, k) * values[k] * cosine(columns, j, k);
    return a;
}

void tst_op_updates::muonMakesSingularValuesAlike_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("columns");
    QTest::newRow("wide") << 8 << 21;
    QTest::newRow("tall") << 24 << 6;
    QTest::newRow("square") << 7 << 7;
}

// From zero, without momentum and with a learning rate of 1 the weights become the direction, negative. The singular
// vectors stay, the values come into the band of NewtonSchulz.
void tst_op_updates::muonMakesSingularValuesAlike() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    const auto m = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(columns), side = std::min(m, n);
    std::vector<double> values;
    for (std::size_t k = 0; k < side; ++k) values.push_back(5 * std::pow(0.4, k));  // down to 0.0016 of the first
    const Value w{.name = "w", .type = {{rows, columns}, DType::F32}, .role = ValueRole::Parameter};
    UpdateCase c{.rule = {.kind = UpdateRule::Kind::Muon, .momentum = 0}, .segments = {{0, m * n, true, &w}}};
    c.weights.assign(m * n, 0);
    c.gradients = {withSingularValues(m, n, values)};
    c.weight = c.learningRate = 1;
    const std::vector<double> stepped = runUpdate(*makeReferenceBackend(), c).weights;
    const double size = std::sqrt(std::max(1.0, static_cast<double>(rows) / columns));
    for (std::size_t k = 0; k < side; ++k) {
        for (std::size_t l = 0; l < side; ++l) {
            double value = 0;
            for (std::size_t i = 0; i < m; ++i)
                for (std::size_t j = 0; j < n; ++j)
                    value -= cosine(m, i, k) * stepped[i * n + j] * cosine(n, j, l) / size;
            const bool inBand =
                k == l ? value > (values[k] > 0.02 ? 0.68 : 0.5) && value < 1.21 : std::abs(value) < 1e-9;
            QVERIFY2(inBand, qPrintable(QString("%1, %2: %3").arg(k).arg(l).arg(value)));
        }
    }
}

void tst_op_updates::muonLeavesVectorsTablesAndTheHeadToAdamW() {
    const auto takes = [](const char* name, const Shape& shape, bool decays) {
        return takesMatrixStep({.name = name, .type = {shape, DType::F32}, .decays = decays});
    };
    QVERIFY(takes("block1/conv1/weight", {16, 3, 3, 3}, true));
    QVERIFY(takes("dense1/weight", {10, 20}, true));
    QVERIFY(!takes("dense1/bias", {10}, false));
    QVERIFY(!takes("position/weight", {16, 40}, false));
    QVERIFY(!takes("head/weight", {10, 20}, true));
    const auto same = [](const UpdateCase& muon) {
        UpdateCase adam = muon;
        adam.rule.kind = UpdateRule::Kind::AdamW;
        adam.learningRate *= muon.rule.adamShare;
        return runUpdate(*makeReferenceBackend(), muon).weights == runUpdate(*makeReferenceBackend(), adam).weights;
    };
    for (const UpdateCase& each : updateCases()) {
        if (each.name == "muon-head") QVERIFY(same(each));
        if (each.name == "muon-wide") QVERIFY(!same(each));
    }
}

void tst_op_updates::clippingScalesTheWholeGradient() {
    UpdateRule rule;
    rule.momentum = 0;
    rule.clipNorm = 1;
    UpdateCase c = oneElement(rule, 0, {});
    c.segments = {{0, 2, true}};
    c.weights = {0, 0};
    c.gradients = {{12, 16}};  // of 4 samples: the mean is (3, 4), its norm 5
    c.weight = 4;
    c.learningRate = 1;
    const UpdateResult result = runUpdate(*makeReferenceBackend(), c);
    QCOMPARE(result.gate.gradientNorm, 5.0);
    QVERIFY(std::abs(result.weights[0] + 0.6) < 1e-15 && std::abs(result.weights[1] + 0.8) < 1e-15);
}

void tst_op_updates::nothingMovesWhenSomethingIsNotFinite() {
    const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    for (const double bad : {inf, -inf, nan}) {
        UpdateCase loss = oneElement({}, 2, {1}), gradient = oneElement({}, 2, {bad}), weight = loss;
        loss.lossSum = bad;
        weight.weight = bad;
        for (const UpdateCase& c : {loss, gradient, weight}) {
            const UpdateResult result = runUpdate(*makeReferenceBackend(), c);
            QVERIFY(result.gate.skip != 0);
            QCOMPARE(result.weights[0], 2.0);
            QCOMPARE(result.states[0][0], 0.0);
            QCOMPARE(result.buffer[0], 9.0);
        }
    }
}

void tst_op_updates::noWeightMeansNoStep() {
    UpdateCase c = oneElement({}, 2, {0});
    c.weight = c.samples = c.lossSum = 0;
    const UpdateResult result = runUpdate(*makeReferenceBackend(), c);
    QCOMPARE(result.weights[0], 2.0);
    QVERIFY(std::isfinite(result.gate.scale));
}

void tst_op_updates::commitDividesBySamples() {
    UpdateCase c = oneElement({}, 2, {6});
    c.samples = 4;
    QCOMPARE(runUpdate(*makeReferenceBackend(), c).buffer[0], 1.5);
}

void tst_op_updates::scaleMultiplies() {
    const auto device = makeReferenceBackend()->open({"reference", 0, 1, false, "reference:0"});
    const auto kernel = device->prepareScale(DType::F64, 3, 2.5);
    double from[]{1, -2, 4}, to[3];
    std::byte* const input = reinterpret_cast<std::byte*>(from);
    std::byte* const output = reinterpret_cast<std::byte*>(to);
    kernel->run({{&input, 1}, {&output, 1}, nullptr, nullptr, nullptr});
    QVERIFY(to[0] == 2.5 && to[1] == -5 && to[2] == 10);
}

void tst_op_updates::addAdds() {
    const auto device = makeReferenceBackend()->open({"reference", 0, 1, false, "reference:0"});
    double from[]{1, -2, 4}, to[]{10, 20, 30};
    std::byte* const input = reinterpret_cast<std::byte*>(from);
    std::byte* const output = reinterpret_cast<std::byte*>(to);
    device->prepareAdd(DType::F64, 3)->run({{&input, 1}, {&output, 1}, nullptr, nullptr, nullptr});
    QVERIFY(to[0] == 11 && to[1] == 18 && to[2] == 34);
}

QTEST_APPLESS_MAIN(tst_op_updates)
#include "tst_op_updates.moc"
