#include <QtTest>
#include <fstream>
#include <set>

#include "tests/ops/backends.h"
#include "tests/ops/onnx_translation.h"

using namespace lockstep;
using namespace lockstep::test;

// Every backend of this build against ONNX's published operator vectors, which are in single precision. What maps to
// our ops is written in onnx_translation.h, what does not in onnx_cases.txt.
class tst_op_onnx : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void everyVectorIsListed();
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

// A vector that stopped mapping, or that another version of the package brings, would pass in silence. With
// LOCKSTEP_UPDATE_GOLDEN in the environment the list is written anew.
void tst_op_onnx::everyVectorIsListed() {
    std::set<std::string> found;
    for (const OnnxVector& vector : m_vectors) found.insert(lineOf(vector));
    const char* path = LOCKSTEP_SOURCE_DIR "/tests/ops/onnx_cases.txt";
    if (qEnvironmentVariableIsSet("LOCKSTEP_UPDATE_GOLDEN")) {
        std::ofstream list(path);
        for (const std::string& line : found) list << line << '\n';
    }
    std::ifstream list(path);
    std::set<std::string> listed;
    for (std::string line; std::getline(list, line);) listed.insert(line);
    for (const std::string& line : found) QVERIFY2(listed.contains(line), ("not on the list: " + line).c_str());
    for (const std::string& line : listed) QVERIFY2(found.contains(line), ("on the list alone: " + line).c_str());
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
