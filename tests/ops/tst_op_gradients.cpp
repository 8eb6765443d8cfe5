#include <QtTest>

#include <cmath>

#include "engine/autodiff/gradients.h"
#include "engine/backend/reference/reference_backend.h"
#include "engine/core/random.h"
#include "engine/ops/dense.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/op_set.h"
#include "tests/support/op_cases.h"

using namespace lockstep;
using namespace lockstep::test;

// Every gradient rule against central differences in double: d/dx of sum(weights * y), with fixed random weights, for
// the first output y of the op (the other outputs are not differentiated).
namespace {

constexpr std::size_t kLargest = 6000;  // elements of a case; above, a smaller case of the same op tells the same
constexpr std::size_t kProbes = 24;     // elements differentiated per input
constexpr double kStep = 1e-5;

bool isDifferentiated(const CaseInput& input) { return !input.fixedType && input.role != ValueRole::Buffer; }

struct Scalar {
    Graph graph;
    Tensors tensors;
    std::vector<std::string> parameters;
};

ValueId addInput(Scalar& scalar, const CaseInput& input, const std::string& name) {
    scalar.tensors.emplace(name, input.tensor);
    if (isDifferentiated(input)) {
        scalar.parameters.push_back(name);
        return scalar.graph.addParameter(name, input.tensor.type(), {}, true);
    }
    if (input.role == ValueRole::Buffer) return scalar.graph.addBuffer(name, input.tensor.type(), {});
    return scalar.graph.addInput(name, input.tensor.type());
}

HostTensor randomWeights(std::int64_t count) {
    const CounterRng rng(5, streamOf("weights"), 0, 0);
    HostTensor weights({{1, count}, DType::F64});
    for (std::uint32_t i = 0; i < count; ++i) weights.as<double>()[i] = rng.normal(i);
    return weights;
}

// The case's node, then the weighted sum of its first output as a dense layer of one output.
Scalar scalarOf(const OpCase& opCase) {
    Scalar scalar;
    std::vector<ValueId> inputs;
    for (std::size_t i = 0; i < opCase.inputs.size(); ++i)
        inputs.push_back(addInput(scalar, opCase.inputs[i], "in" + std::to_string(i)));
    Graph& graph = scalar.graph;
    const ValueId y = opCase.append(graph, inputs, opCase, DType::F64)[0];
    const std::int64_t count = graph.typeOf(y).shape.count();
    const HostTensor weights = randomWeights(count);
    const ValueId w = graph.addInput("weights", weights.type());
    scalar.tensors.emplace("weights", weights);
    const ValueId row = graph.append(kReshape, {y}, Attrs::of(ShapeAttrs{{1, count}}), "row")[0];
    const ValueId sum = graph.append(kDense, {row, w}, {}, "sum")[0];
    const ValueId loss = graph.append(kReshape, {sum}, Attrs::of(ShapeAttrs{{1}}), "loss")[0];
    graph.addOutput("loss", loss);
    return scalar;
}

double lossAt(const Backend& backend, const Scalar& scalar, const Tensors& tensors, const RunOptions& options) {
    return runGraph(backend, scalar.graph, tensors, options).outputs.at("loss").as<double>()[0];
}

double difference(const Backend& backend, const Scalar& scalar, const std::string& name, std::size_t element,
                  const RunOptions& options) {
    Tensors tensors = scalar.tensors;
    double& x = tensors.at(name).as<double>()[element];
    const double at = x, step = kStep * std::max(1.0, std::abs(at));
    x = at + step;
    const double above = lossAt(backend, scalar, tensors, options);
    x = at - step;
    return (above - lossAt(backend, scalar, tensors, options)) / (2 * step);
}

std::size_t elementsOf(const OpCase& opCase) {
    std::size_t count = 0;
    for (const CaseInput& input : opCase.inputs) count += static_cast<std::size_t>(input.tensor.type().shape.count());
    return count;
}

bool isTested(const OpCase& opCase) {
    const bool hasFloats = std::ranges::any_of(opCase.inputs, isDifferentiated);
    const bool staysDouble = opCase.op != &kCast || opCase.attrs(DType::F64).as<CastAttrs>().to == DType::F64;
    return opCase.op->gradient && opCase.smooth && hasFloats && staysDouble && elementsOf(opCase) <= kLargest;
}

}  // namespace

class tst_op_gradients : public QObject {
    Q_OBJECT
private slots:
    void centralDifferences_data();
    void centralDifferences();
    void everyRuleIsTested();
};

void tst_op_gradients::centralDifferences_data() {
    QTest::addColumn<const OpCase*>("opCase");
    for (const OpCase& opCase : opCases())
        if (isTested(opCase)) QTest::newRow(opCase.name.c_str()) << &opCase;
}

void tst_op_gradients::centralDifferences() {
    QFETCH(const OpCase*, opCase);
    const auto backend = makeReferenceBackend();
    const Scalar scalar = scalarOf(*opCase);
    Scalar withGradients = scalar;
    appendGradients(withGradients.graph, *withGradients.graph.output("loss"));
    RunOptions options;
    options.scalars = opCase->scalars;
    const RunResult result = runGraph(*backend, withGradients.graph, withGradients.tensors, options);
    for (const std::string& name : scalar.parameters) {
        const HostTensor& gradient = result.gradients.at(name);
        const std::span<const double> expected = gradient.as<double>();
        double largest = 1e-3;
        for (const double g : expected) largest = std::max(largest, std::abs(g));
        const std::size_t stride = std::max<std::size_t>(1, expected.size() / kProbes);
        for (std::size_t i = 0; i < expected.size(); i += stride) {
            const double measured = difference(*backend, scalar, name, i, options);
            const auto told = QStringLiteral("d/d%1[%2]: rule %3, difference %4");
            QVERIFY2(std::abs(measured - expected[i]) < 1e-6 * largest,
                     qPrintable(told.arg(name.c_str()).arg(i).arg(expected[i]).arg(measured)));
        }
    }
}

void tst_op_gradients::everyRuleIsTested() {
    for (const OpDef* op : opSet()) {
        if (!op->gradient) continue;
        const auto cases = casesOf(*op);
        const bool tested = std::ranges::any_of(cases, [](const OpCase* opCase) { return isTested(*opCase); });
        QVERIFY2(tested, op->name.data());
    }
}

QTEST_APPLESS_MAIN(tst_op_gradients)
#include "tst_op_gradients.moc"
