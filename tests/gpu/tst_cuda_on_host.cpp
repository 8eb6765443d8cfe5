#include <QtTest>

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/ops/all_reduce.h"
#include "engine/ops/op_set.h"
#include "tests/support/against_reference.h"

using namespace lockstep;
using namespace lockstep::test;

// The module's kernels, lowering and device as the host runs them (see grid.h), against the reference.
class TestCudaOnHost : public QObject {
    Q_OBJECT
private slots:
    void everyOpHasAKernel() {
        for (const OpDef* op : opSet()) {
            if (op->isView || op == &kAllReduce) continue;
            QVERIFY2(cuda::findKernel(*op), std::string(op->name).c_str());
        }
    }

    void ops_data() {
        QTest::addColumn<const OpCase*>("opCase");
        QTest::addColumn<bool>("inplace");
        for (const OpCase& opCase : opCases())
            for (const bool inplace : {false, true})
                QTest::addRow("%s%s", opCase.name.c_str(), inplace ? ", in place" : "") << &opCase << inplace;
    }
    void ops() {
        QFETCH(const OpCase*, opCase);
        QFETCH(bool, inplace);
        const std::string found = differences(m_backend, *opCase, options(inplace));
        QVERIFY2(found.empty(), found.c_str());
    }

    void graphs_data() {
        QTest::addColumn<const GraphCase*>("graphCase");
        for (const GraphCase& graphCase : graphCases()) QTest::newRow(graphCase.name.c_str()) << &graphCase;
    }
    void graphs() {
        QFETCH(const GraphCase*, graphCase);
        const std::string found = differences(m_backend, *graphCase, options(true));
        QVERIFY2(found.empty(), found.c_str());
    }

    void updates_data() {
        QTest::addColumn<const UpdateCase*>("updateCase");
        for (const UpdateCase& updateCase : updateCases()) QTest::newRow(updateCase.name.c_str()) << &updateCase;
    }
    void updates() {
        QFETCH(const UpdateCase*, updateCase);
        const std::string found = differences(m_backend, *updateCase);
        QVERIFY2(found.empty(), found.c_str());
    }

private:
    static RunOptions options(bool inplace) {
        RunOptions options;
        options.inplace = inplace;
        options.scalars = {.seed = 3, .epoch = 1, .step = 5};
        return options;
    }

    cuda::CudaBackend m_backend{1};
};

QTEST_APPLESS_MAIN(TestCudaOnHost)
#include "tst_cuda_on_host.moc"
