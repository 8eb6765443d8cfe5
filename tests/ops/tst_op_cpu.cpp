#include <QtTest>

#include <cstring>

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/ops/embedding.h"
#include "tests/support/against_reference.h"

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
    const std::string found = differences(*makeCpuBackend(), *opCase, optionsFor(threads));
    QVERIFY2(found.empty(), found.c_str());
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
    const std::string found = differences(*makeCpuBackend(), *graphCase, optionsFor(threads));
    QVERIFY2(found.empty(), found.c_str());
}

void tst_op_cpu::updates_data() {
    QTest::addColumn<const UpdateCase*>("updateCase");
    for (const UpdateCase& updateCase : updateCases()) QTest::newRow(updateCase.name.c_str()) << &updateCase;
}

void tst_op_cpu::updates() {
    QFETCH(const UpdateCase*, updateCase);
    const std::string found = differences(*makeCpuBackend(), *updateCase);
    QVERIFY2(found.empty(), found.c_str());
}

QTEST_APPLESS_MAIN(tst_op_cpu)
#include "tst_op_cpu.moc"
