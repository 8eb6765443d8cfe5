#include <QtTest>

#include <cmath>
#include <limits>

#include "engine/ops/update_gate.h"

using namespace lockstep;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargest = std::numeric_limits<double>::max();

// Cards compile it as the compiler does here.
static_assert(decideGate({1, 4, 4, 20}, 0).scale == 0.25);

bool isAllZeroBut(const UpdateGate& gate, double skip) {
    return gate.scale == 0 && gate.bufferScale == 0 && gate.gradientNorm == 0 && gate.skip == skip;
}

}  // namespace

// The one decision that all backends share.
class TestUpdateGate : public QObject {
    Q_OBJECT
private slots:
    void sumsBecomeMeans() {
        const UpdateGate gate = decideGate({.lossSum = 7, .weight = 4, .samples = 8, .gradientNorm = 20}, 0);
        QCOMPARE(gate.skip, 0.0);
        QCOMPARE(gate.scale, 0.25);
        QCOMPARE(gate.bufferScale, 0.125);
        QCOMPARE(gate.gradientNorm, 5.0);
    }

    void theMeanGradientIsClipped_data() {
        QTest::addColumn<double>("clipNorm");
        QTest::addColumn<double>("factor");
        QTest::newRow("never") << 0.0 << 1.0;
        QTest::newRow("smaller") << 2.0 << 0.4;
        QTest::newRow("exactly as large") << 5.0 << 1.0;
        QTest::newRow("larger") << 6.0 << 1.0;
    }
    void theMeanGradientIsClipped() {
        QFETCH(double, clipNorm);
        QFETCH(double, factor);
        const UpdateGate gate = decideGate({1, 4, 4, 20}, clipNorm);
        QCOMPARE(gate.scale, factor / 4);
        QCOMPARE(gate.gradientNorm, 5.0);
    }

    // What is written is then the same on all backends, too: zeros.
    void whatIsNotFiniteSkips_data() {
        QTest::addColumn<double>("bad");
        QTest::newRow("nan") << kNan;
        QTest::newRow("infinity") << kInfinity;
        QTest::newRow("minus infinity") << -kInfinity;
    }
    void whatIsNotFiniteSkips() {
        QFETCH(double, bad);
        for (const double clipNorm : {0.0, 1.0}) {
            QVERIFY(isAllZeroBut(decideGate({bad, 4, 4, 20}, clipNorm), 1));
            QVERIFY(isAllZeroBut(decideGate({1, bad, 4, 20}, clipNorm), 1));
            QVERIFY(isAllZeroBut(decideGate({1, 4, 4, bad}, clipNorm), 1));
        }
    }

    void noWeightSkips() {
        QVERIFY(isAllZeroBut(decideGate({0, 0, 0, 0}, 1), 1));
        QVERIFY(isAllZeroBut(decideGate({1, -4, 4, 20}, 1), 1));
    }

    // A loss that was scaled leaves the same mean gradient.
    void theLossScaleIsTakenOut() {
        for (const double lossScale : {1.0, 1024.0, 0.125}) {
            const UpdateGate gate = decideGate({7, 4, 8, 20 * lossScale}, 2, lossScale);
            QCOMPARE(gate.gradientNorm, 5.0);
            QCOMPARE(gate.scale * lossScale, 0.1);
            QCOMPARE(gate.bufferScale, 0.125);
        }
    }

    void noSamplesLeaveTheStatistics() { QCOMPARE(decideGate({1, 4, 0, 20}, 0).bufferScale, 0.0); }

    void aGradientOfNothingIsNotClipped() {
        const UpdateGate gate = decideGate({0, 4, 4, 0}, 1);
        QCOMPARE(gate.scale, 0.25);
        QCOMPARE(gate.gradientNorm, 0.0);
    }

    void finiteIsWhatTheLibraryCallsFinite() {
        for (const double x : {0.0, -0.0, 1.0, -1e300, kLargest, -kLargest, 5e-324, kInfinity, -kInfinity, kNan})
            QCOMPARE(isFinite(x), std::isfinite(x));
    }
};

QTEST_APPLESS_MAIN(TestUpdateGate)
#include "tst_update_gate.moc"
