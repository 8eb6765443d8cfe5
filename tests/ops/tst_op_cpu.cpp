#include <QtTest>

#include <cstring>

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/reference/reference_backend.h"
#include "engine/ops/embedding.h"
#include "tests/support/op_cases.h"
#include "tests/support/update_cases.h"

using namespace lockstep;
using namespace lockstep::test;

// The CPU backend against the reference: every case of the list, whole graphs as its lowering fuses them, and updates.
class tst_op_cpu : public QObject {
    Q_OBJECT
private slots:
    void ops_data();
    void ops();
    void tablesGradientsHaveTheSameBitsForAnyThreads();
    void graphs_data();
    void graphs();
    void updates_data();
    void updates();
};

namespace {

QString message(const std::string& what, double error) {
    return QStringLiteral("%1 differs by %2 of its largest element").arg(what.c_str()).arg(error);
}

// Some of these are zero but for rounding (a bias ahead of a batch norm has no gradient): they are measured against the
// largest of all.
void compareAll(const Tensors& actual, const Tensors& expected, double tolerance) {
    QCOMPARE(actual.size(), expected.size());
    double largest = 0;
    for (const auto& [name, tensor] : expected) largest = std::max(largest, largestMagnitude(tensor));
    for (const auto& [name, tensor] : expected) {
        const double error = relativeError(actual.at(name), tensor, 1e-2 * largest);
        QVERIFY2(error <= tolerance, qPrintable(message(name, error)));
    }
}

HostTensor asTensor(const std::vector<double>& values) {
    return tensorOf({static_cast<std::int64_t>(values.size())}, values);
}

// In place wherever an op allows it on one thread, apart on two.
RunOptions optionsFor(int threads) {
    RunOptions options;
    options.threads = threads;
    options.inplace = threads == 1;
    options.scalars = {.seed = 3, .epoch = 1, .step = 5};
    return options;
}

}  // namespace

void tst_op_cpu::ops_data() {
    QTest::addColumn<const OpCase*>("opCase");
    QTest::addColumn<int>("threads");
    for (const OpCase& opCase : opCases())
        for (const int threads : {1, 2})
            QTest::addRow("%s, %d threads", opCase.name.c_str(), threads) << &opCase << threads;
}

void tst_op_cpu::ops() {
    QFETCH(const OpCase*, opCase);
    QFETCH(int, threads);
    const auto expected = runCase(*makeReferenceBackend(), *opCase);
    const auto actual = runCase(*makeCpuBackend(), *opCase, optionsFor(threads));
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double error = relativeError(actual[i], expected[i]);
        QVERIFY2(error <= opCase->tolerance, qPrintable(message("output " + std::to_string(i), error)));
    }
}

void tst_op_cpu::tablesGradientsHaveTheSameBitsForAnyThreads() {
    for (const OpCase* opCase : casesOf(kEmbeddingBackward)) {
        const HostTensor one = runCase(*makeCpuBackend(), *opCase, optionsFor(1))[0];
        for (const int threads : {2, 3, 5}) {
            const HostTensor many = runCase(*makeCpuBackend(), *opCase, optionsFor(threads))[0];
            QVERIFY2(std::memcmp(one.data(), many.data(), one.bytes()) == 0, opCase->name.c_str());
        }
    }
}

void tst_op_cpu::graphs_data() {
    QTest::addColumn<const GraphCase*>("graphCase");
    QTest::addColumn<int>("threads");
    for (const GraphCase& graphCase : graphCases())
        for (const int threads : {1, 2})
            QTest::addRow("%s, %d threads", graphCase.name.c_str(), threads) << &graphCase << threads;
}

void tst_op_cpu::graphs() {
    QFETCH(const GraphCase*, graphCase);
    QFETCH(int, threads);
    const auto run = [&](const Backend& backend) {
        const Graph graph = graphCase->build(backend.computeType());
        RunResult result = runGraph(backend, graph, randomTensors(graph, 17), optionsFor(threads));
        verify(result.lowered);
        return result;
    };
    const RunResult expected = run(*makeReferenceBackend()), actual = run(*makeCpuBackend());
    compareAll(actual.outputs, expected.outputs, graphCase->tolerance);
    compareAll(actual.gradients, expected.gradients, graphCase->tolerance);
    compareAll(actual.buffers, expected.buffers, graphCase->tolerance);
}

void tst_op_cpu::updates_data() {
    QTest::addColumn<const UpdateCase*>("updateCase");
    for (const UpdateCase& updateCase : updateCases()) QTest::newRow(updateCase.name.c_str()) << &updateCase;
}

void tst_op_cpu::updates() {
    QFETCH(const UpdateCase*, updateCase);
    const UpdateResult expected = runUpdate(*makeReferenceBackend(), *updateCase);
    const UpdateResult actual = runUpdate(*makeCpuBackend(), *updateCase);
    QVERIFY(relativeError(asTensor(actual.weights), asTensor(expected.weights)) < 1e-6);
    QVERIFY(relativeError(asTensor(actual.buffer), asTensor(expected.buffer)) < 1e-6);
    QCOMPARE(actual.states.size(), expected.states.size());
    for (std::size_t i = 0; i < expected.states.size(); ++i)
        QVERIFY(relativeError(asTensor(actual.states[i]), asTensor(expected.states[i])) < 1e-6);
    QCOMPARE(actual.averages.size(), expected.averages.size());
    QVERIFY(relativeError(asTensor(actual.averages), asTensor(expected.averages)) < 1e-6);
    QCOMPARE(actual.gate.skip != 0, expected.gate.skip != 0);
}

QTEST_APPLESS_MAIN(tst_op_cpu)
#include "tst_op_cpu.moc"
