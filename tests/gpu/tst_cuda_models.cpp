#include <QtTest>

#include "engine/backend/cuda/cuda_backend.h"
#include "tests/golden/golden.h"

using namespace lockstep;
using namespace lockstep::test;

// Whole models on the host that stands in for a card, beside PyTorch: lowered, recorded and replayed as a card would.
class TestCudaModels : public QObject {
    Q_OBJECT
private slots:
    void firstSteps_data() {
        QTest::addColumn<GoldenCase>("golden");
        for (const GoldenCase& each : goldenCases()) QTest::newRow(each.name().c_str()) << each;
    }
    void firstSteps() {
        QFETCH(GoldenCase, golden);
        const bool isLarge = golden.isOfZoo();
        const std::string found = differences(cuda::CudaBackend(1), golden, isLarge ? 1 : 3, isLarge ? 1e-3 : 1e-5);
        QVERIFY2(found.empty(), found.c_str());
    }
};

QTEST_APPLESS_MAIN(TestCudaModels)
#include "tst_cuda_models.moc"
