#include <QtTest>

#include "tests/ops/backends.h"
#include "tests/ops/onnx_translation.h"

using namespace lockstep;
using namespace lockstep::test;

// Every backend of this build against ONNX's published operator vectors, which are in single precision. What maps to
// our ops and what does not is written in onnx_translation.h.
class tst_op_onnx : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void enoughMaps_data();
    void enoughMaps();
    void ops_data();
    void ops();
    void updates_data();
    void updates();

private:
    std::vector<OnnxVector> m_vectors;
};

namespace {

HostTensor reshaped(const HostTensor& tensor, const Shape& shape) {
    const HostTensor doubles = converted(tensor, DType::F64);
    return tensorOf(shape, doubles.as<double>());
}

double relativeError(const std::vector<double>& actual, const std::vector<double>& expected) {
    const Shape shape{static_cast<std::int64_t>(expected.size())};
    return test::relativeError(tensorOf(shape, actual), tensorOf(shape, expected));
}

}  // namespace

void tst_op_onnx::initTestCase() {
    if (onnxFolder().empty()) QSKIP("The package libonnx-testdata is not installed.");
    m_vectors = readOnnxVectors(onnxFolder());
}

// A vector that stopped mapping would pass in silence.
void tst_op_onnx::enoughMaps_data() {
    QTest::addColumn<QString>("op");
    QTest::addColumn<int>("least");
    const std::pair<const char*, int> table[]{
        {"Conv", 24},
        {"AveragePool", 10},
        {"MaxPool", 10},
        {"GlobalAveragePool", 2},
        {"Gemm", 8},
        {"BatchNormalization", 9},
        {"Relu", 3},
        {"Add", 1},
        {"Sum", 1},
        {"Flatten", 9},
        {"Reshape", 8},
        {"Cast", 2},
        {"Softmax", 6},
        {"LogSoftmax", 6},
        {"SoftmaxCrossEntropyLoss", 8},
        {"Momentum", 3},
        {"Adam", 2},
    };
    for (const auto& [op, least] : table) QTest::newRow(op) << QString(op) << least;
}

void tst_op_onnx::enoughMaps() {
    QFETCH(QString, op);
    QFETCH(int, least);
    int mapped = 0;
    for (const OnnxVector& vector : m_vectors) {
        if (vector.op != op.toStdString()) continue;
        const std::string why = isUpdate(vector) ? translatedUpdate(vector).whyNot : translated(vector).whyNot;
        mapped += why.empty();
        if (!why.empty()) qInfo("%s does not map: %s", vector.name.c_str(), why.c_str());
    }
    QVERIFY2(mapped >= least, qPrintable(QString("%1 vectors map").arg(mapped)));
}

void tst_op_onnx::ops_data() {
    QTest::addColumn<QString>("backend");
    QTest::addColumn<const OnnxVector*>("vector");
    for (const char* backend : {"reference", "cpu"}) {
        if (!backendNamed(backend)) continue;
        for (const OnnxVector& vector : m_vectors)
            if (isOurs(vector) && translated(vector).whyNot.empty())
                QTest::addRow("%s %s", backend, vector.name.c_str()) << QString(backend) << &vector;
    }
}

void tst_op_onnx::ops() {
    QFETCH(QString, backend);
    QFETCH(const OnnxVector*, vector);
    const OnnxCase onnxCase = translated(*vector);
    const auto actual = runCase(*backendNamed(backend), onnxCase.opCase);
    for (const OnnxCase::Expected& expected : onnxCase.expected) {
        const HostTensor& output = actual.at(expected.output);
        const double error = test::relativeError(output, reshaped(expected.values, output.type().shape));
        QVERIFY2(error < 2e-6, qPrintable(QString("output %1: %2").arg(expected.output).arg(error)));
    }
}

void tst_op_onnx::updates_data() {
    QTest::addColumn<QString>("backend");
    QTest::addColumn<const OnnxVector*>("vector");
    for (const char* backend : {"reference", "cpu"}) {
        if (!backendNamed(backend)) continue;
        for (const OnnxVector& vector : m_vectors)
            if (isUpdate(vector) && translatedUpdate(vector).whyNot.empty())
                QTest::addRow("%s %s", backend, vector.name.c_str()) << QString(backend) << &vector;
    }
}

void tst_op_onnx::updates() {
    QFETCH(QString, backend);
    QFETCH(const OnnxVector*, vector);
    const OnnxUpdate update = translatedUpdate(*vector);
    const UpdateResult actual = runUpdate(*backendNamed(backend), update.updateCase);
    QVERIFY(relativeError(actual.weights, update.weights) < 2e-6);
    for (std::size_t state = 0; state < update.states.size(); ++state)
        QVERIFY(relativeError(actual.states.at(state), update.states[state]) < 2e-6);
}

QTEST_APPLESS_MAIN(tst_op_onnx)
#include "tst_op_onnx.moc"
