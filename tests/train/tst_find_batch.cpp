#include <QtTest>
#include <numeric>

#include "engine/train/find_batch.h"
#include "engine/train/memory_need.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

ResolvedSpec twoDevices() { return resolved(smallSpec("lenet5", hasCpuBackend() ? "cpu:2x1" : "reference:2")); }

const DatasetSplits& data() {
    static const DatasetSplits splits = patterns(201, 16, {1, 28, 28});
    return splits;
}

}  // namespace

class TestFindBatch : public QObject {
    Q_OBJECT

private slots:
    // For any limit, and with few tries.
    void theLargestThatFits() {
        for (const std::int64_t unit : {1, 3, 8}) {
            for (std::int64_t limit = 0; limit < 70; ++limit) {
                int tries = 0;
                const auto fits = [&](std::int64_t batch) { return ++tries, batch <= limit; };
                const std::int64_t largest = largestThatFits(fits, unit, 50);
                QCOMPARE(largest, std::min<std::int64_t>(limit, 50) / unit * unit);
                QVERIFY2(tries <= 14, qPrintable(QString::number(tries)));
            }
        }
        QCOMPARE(largestThatFits([](std::int64_t) { return true; }, 8, 7), std::int64_t{0});
    }

    void nothingFitsBeyondTheData() {
        QCOMPARE(largestBatch(twoDevices(), data().train->info(), data().test->info()), 200);
    }

    void theSmallestBatchHasASampleForEachPass() {
        ResolvedSpec spec = twoDevices();
        QCOMPARE(leastBatch(spec), 2);
        spec.spec.accumulation = 3;
        QCOMPARE(leastBatch(spec), 6);
        spec.spec.mode = "reproducible";
        QCOMPARE(leastBatch(spec), 8);
    }

    void theKneeIsTheSmallestThatIsNearlyAsFast() {
        QCOMPARE(kneeOf({{8, 100}, {16, 179}, {32, 181}, {64, 200}, {128, 150}}).batch, 32);
        QCOMPARE(kneeOf({{64, 200}, {32, 190}}).batch, 32);
        QCOMPARE(kneeOf({{8, 5}}).batch, 8);
    }

    void speedsFlattenWhenTwoMoreBringLittle() {
        QVERIFY(!hasFlattened({}));
        QVERIFY(!hasFlattened({{8, 100}, {16, 100}}));
        QVERIFY(hasFlattened({{8, 100}, {16, 100}, {32, 104}}));
        QVERIFY(!hasFlattened({{8, 100}, {16, 100}, {32, 106}}));
        QVERIFY(!hasFlattened({{8, 100}, {16, 200}, {32, 199}}));
        QVERIFY(hasFlattened({{8, 100}, {16, 200}, {32, 199}, {64, 180}}));
    }

    void aBatchIsTimed() {
        const BatchSpeed speed = timeBatch(twoDevices(), data().train->info(), 32, 0);
        QCOMPARE(speed.batch, 32);
        QVERIFY(speed.samplesPerSecond > 0);
    }
};

QTEST_APPLESS_MAIN(TestFindBatch)
#include "tst_find_batch.moc"
