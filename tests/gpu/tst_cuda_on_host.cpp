#include <QtTest>

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/lowering.h"
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
        QTest::addColumn<Precision>("precision");
        for (const OpCase& opCase : opCases())
            for (const Precision precision : {Precision::Fp32, Precision::Fp16, Precision::Bf16})
                QTest::addRow("%s, %s", opCase.name.c_str(), text(precision).data()) << &opCase << precision;
    }
    // In place wherever an op allows it in halves, apart in f32.
    void ops() {
        QFETCH(const OpCase*, opCase);
        QFETCH(Precision, precision);
        const std::string found = differences(m_backend, *opCase, options(precision), allowance(precision));
        QVERIFY2(found.empty(), found.c_str());
    }

    void graphs_data() {
        QTest::addColumn<const GraphCase*>("graphCase");
        QTest::addColumn<Precision>("precision");
        for (const GraphCase& graphCase : graphCases())
            for (const Precision precision : {Precision::Fp32, Precision::Tf32})
                QTest::addRow("%s, %s", graphCase.name.c_str(), text(precision).data()) << &graphCase << precision;
    }
    void graphs() {
        QFETCH(const GraphCase*, graphCase);
        QFETCH(Precision, precision);
        const std::string found = differences(m_backend, *graphCase, options(precision));  // the host does not round
        QVERIFY2(found.empty(), found.c_str());
    }

    // Norms done by the convolutions around them, as on cards in f16, where roundings would hide what differs.
    void joinedGraphs_data() {
        QTest::addColumn<const GraphCase*>("graphCase");
        for (const GraphCase& graphCase : graphCases()) QTest::newRow(graphCase.name.c_str()) << &graphCase;
    }
    void joinedGraphs() {
        QFETCH(const GraphCase*, graphCase);
        struct Joined final : cuda::CudaBackend {
            using CudaBackend::CudaBackend;
            Graph lower(const Graph& graph, const LowerOptions& options) const override {
                return cuda::lower(graph, options.precision, true);
            }
        };
        const std::string found = differences(Joined(1), *graphCase, options(Precision::Fp32));
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
    static RunOptions options(Precision precision) {
        RunOptions options;
        options.precision = precision;
        options.inplace = precision != Precision::Fp32;
        options.scalars = {.seed = 3, .epoch = 1, .step = 5};
        return options;
    }

    cuda::CudaBackend m_backend{1};
};

QTEST_APPLESS_MAIN(TestCudaOnHost)
#include "tst_cuda_on_host.moc"
