#include <QtTest>

#include "engine/backend/reference/reference_backend.h"
#include "tests/golden/golden.h"
#include "tests/support/long_tests.h"
#ifdef LOCKSTEP_WITH_CPU
#include "engine/backend/cpu/cpu_backend.h"
#include "tests/cpu/choosing_backend.h"
#endif

using namespace lockstep;
using namespace lockstep::test;

class TestPytorchGolden : public QObject {
    Q_OBJECT
private slots:
    void reference_data() { rows(); }
    // Both in double from the same f32 images; what is left is the order of sums.
    void reference() {
        QFETCH(GoldenCase, golden);
        const bool large = golden.model() == "resnet18-cifar";  // plain loops take ten seconds a step there
        compare(*makeReferenceBackend(), golden, golden.isOfZoo() ? 1 : large ? rounds(1, 3) : 10, 1e-10);
    }
#ifdef LOCKSTEP_WITH_CPU
    void cpu_data() { rows(); }
    void cpu() {
        QFETCH(GoldenCase, golden);
        // Where two pixels of a pooling window are equal up to rounding, Winograd's 1e-6 decides which of them gets the
        // gradient. With batch norm over 8 images that shows from the third step on; the reference above follows all
        // ten.
        const bool discontinuous = golden.model() == "fashion-cnn";
        // Batch norms over few numbers, one after another, enlarge rounding: in 54 blocks the worst of 494 norms is off
        // by 2.6e-2 with direct convolutions and by 3.5e-2 with Winograd's. In wideresnet-16 it is 2e-7 and 9e-7.
        // Losses of networks with Winograd's convolutions, whose transforms cost digits, may be off by 1e-3.
        if (golden.isOfZoo()) compare(*makeCpuBackend(), golden, golden.comparableSteps(10, 1e-3), 1e-3);
        else compare(*makeCpuBackend(), golden, discontinuous ? 2 : 10, 1e-5);
    }

    void cpuInBf16_data() {
        QTest::addColumn<GoldenCase>("golden");
        QTest::addColumn<bool>("areTiles");
        for (const GoldenCase& each : goldenCases()) {
            QTest::addRow("%s pairs", each.name().c_str()) << each << false;
            QTest::addRow("%s tiles", each.name().c_str()) << each << true;
        }
    }
    // Rounding to bf16 costs as much of ten losses as it does in PyTorch's autocast, which it need not resemble: of a
    // network that enlarges it tenths, of a transformer some ten thousandths.
    void cpuInBf16() {
        QFETCH(GoldenCase, golden);
        QFETCH(bool, areTiles);
        constexpr double kBand = 2.5;
        if (!cpu::bestBf16()) QSKIP("this processor has no instructions for pairs of bf16");
        const ChoosingBackend backend([](const cpu::ConvPass&) { return cpu::ConvAlgorithm::DirectBf16; },
                                      areTiles ? onednn::Bf16Units::Tiles : onednn::Bf16Units::Pairs);
        const double ours = rootMeanSquare(errorsInBf16(backend, golden));
        const double theirs = rootMeanSquare(golden.errorsInBf16);
        QVERIFY2(ours > 0 && ours < kBand * theirs, qPrintable(QString("%1, PyTorch %2").arg(ours).arg(theirs)));
    }
#endif

private:
    static double rootMeanSquare(const std::vector<double>& errors) {
        double sum = 0;
        for (const double each : errors) sum += each * each;
        return std::sqrt(sum / static_cast<double>(errors.size()));
    }
    static void compare(const Backend& backend, const GoldenCase& golden, int steps, double tolerance) {
        const std::string found = differences(backend, golden, steps, tolerance);
        QVERIFY2(found.empty(), found.c_str());
    }

    void rows() {
        QTest::addColumn<GoldenCase>("golden");
        const auto cases = goldenCases();
        QCOMPARE(cases.size(), std::size_t{18});
        for (const GoldenCase& each : cases) QTest::newRow(each.name().c_str()) << each;
    }
};

QTEST_APPLESS_MAIN(TestPytorchGolden)
#include "tst_pytorch_golden.moc"
