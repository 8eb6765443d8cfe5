#include <QtTest>

#include <set>

#include "engine/backend/reference/kernels.h"
#include "engine/core/error.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/op_set.h"
#include "tests/ops/backends.h"
#include "tests/support/op_cases.h"

using namespace lockstep;
using namespace lockstep::test;

// A new op is not done before it has cases and a kernel on every backend of this build.
class tst_op_completeness : public QObject {
    Q_OBJECT
private slots:
    void everyOpHasCases();
    void caseNamesAreUnique();
    void everyCaseIsOfTheOpSet();
    void everyOpHasAReferenceKernel();
    void referenceHasNoStrayKernels();
    void everyOpRuns_data();
    void everyOpRuns();
    void anUnknownOpIsRefused();
    void halvesAreRefused_data();
    void halvesAreRefused();
};

void tst_op_completeness::everyOpHasCases() {
    for (const OpDef* op : opSet()) QVERIFY2(!casesOf(*op).empty(), op->name.data());
}

void tst_op_completeness::caseNamesAreUnique() {
    std::set<std::string> names;
    for (const OpCase& opCase : opCases()) QVERIFY2(names.insert(opCase.name).second, opCase.name.c_str());
}

void tst_op_completeness::everyCaseIsOfTheOpSet() {
    for (const OpCase& opCase : opCases()) QCOMPARE(findOp(opCase.op->name), opCase.op);
}

void tst_op_completeness::everyOpHasAReferenceKernel() {
    for (const OpDef* op : opSet()) QVERIFY2(op->isView != (reference::findKernel(*op) != nullptr), op->name.data());
}

void tst_op_completeness::referenceHasNoStrayKernels() {
    std::set<const OpDef*> seen;
    for (const reference::KernelEntry& entry : reference::kernelList()) {
        QCOMPARE(findOp(entry.op->name), entry.op);
        QVERIFY2(seen.insert(entry.op).second, entry.op->name.data());
    }
}

void tst_op_completeness::everyOpRuns_data() {
    QTest::addColumn<QString>("backend");
    QTest::addColumn<const OpDef*>("op");
    for (const char* backend : {"reference", "cpu"}) {
        if (!backendNamed(backend)) continue;
        for (const OpDef* op : opSet()) QTest::addRow("%s %s", backend, op->name.data()) << QString(backend) << op;
    }
}

void tst_op_completeness::everyOpRuns() {
    QFETCH(QString, backend);
    QFETCH(const OpDef*, op);
    try {
        const OpCase& opCase = *casesOf(*op).front();
        const auto results = runCase(*backendNamed(backend), opCase);
        QVERIFY(!results.empty());
    } catch (const std::exception& error) {
        QFAIL(error.what());
    }
}

void tst_op_completeness::anUnknownOpIsRefused() {
    static constexpr OpDef unheardOf{
        .name = "unheard_of",
        .infer = [](std::span<const TensorType> in, const Attrs&) -> std::vector<TensorType> { return {in[0]}; }};
    Graph graph;
    const ValueId x = graph.addInput("x", {{2}, DType::F64});
    graph.addOutput("y", graph.append(unheardOf, {x}, {}, "layer7")[0]);
    for (const char* name : {"reference", "cpu"}) {
        const auto backend = backendNamed(name);
        if (!backend) continue;
        try {
            (void)backend->lower(graph, {});
            QFAIL("lowered an op it has no kernel for");
        } catch (const EngineError& error) {
            QCOMPARE(error.kind(), EngineError::Kind::Device);
            QVERIFY(error.where().find("unheard_of layer7") != std::string::npos);
        }
    }
}

void tst_op_completeness::halvesAreRefused_data() {
    QTest::addColumn<QString>("backend");
    for (const char* backend : {"reference", "cpu"}) {
        if (backendNamed(backend)) QTest::newRow(backend) << QString(backend);
    }
}

void tst_op_completeness::halvesAreRefused() {
    QFETCH(QString, backend);
    const auto own = backendNamed(backend);
    const auto device = own->open({backend.toStdString(), 0, 1, false, "device"});
    const auto refusal = [](auto&& act) {
        try {
            act();
        } catch (const EngineError& error) {
            return QString(error.kind() == EngineError::Kind::Device ? error.what() : "another kind of error");
        }
        return QString("nothing was refused");
    };
    for (const DType dtype : {DType::F16, DType::BF16}) {
        Graph graph;
        const ValueId image = graph.addInput("image", {{2, 3}, DType::F32});
        graph.append(kCast, {image}, Attrs::of(CastAttrs{dtype}), "cast");
        const QString name = QString::fromStdString(std::string(text(dtype)));
        for (const QString& what :
             {refusal([&] { (void)own->lower(graph, {}); }), refusal([&] { (void)device->prepareFill(dtype, 4, 0); }),
              refusal([&] { (void)device->prepareSquareSum(dtype, 4); }),
              refusal([&] { (void)device->prepareUpdate({}, dtype, 4, {}); }),
              refusal([&] { (void)device->prepareAverage(0.9, dtype, 4); }),
              refusal([&] { (void)device->prepareNarrow(dtype, 4); }),
              refusal([&] { (void)device->prepareCommit(dtype, 4); })})
            QVERIFY2(what.contains(name), qPrintable(what));
    }
}

QTEST_APPLESS_MAIN(tst_op_completeness)
#include "tst_op_completeness.moc"
