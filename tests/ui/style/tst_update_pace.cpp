#include <QtTest>

#include "ui/style/update_pace.h"

using lockstep::ui::UpdatePace;
using namespace std::chrono_literals;

namespace {

// The interval after many updates of which each cost as much.
std::chrono::milliseconds settled(double share, UpdatePace::Seconds cost) {
    UpdatePace pace(share);
    UpdatePace::Seconds used{7};
    auto interval = pace.next(used);
    for (int i = 0; i < 10; ++i) interval = pace.next(used += cost);
    return interval;
}

}  // namespace

class TestUpdatePace : public QObject {
    Q_OBJECT
private slots:
    void dearUpdatesAreRare() {
        QCOMPARE(settled(0.02, 4ms), 200ms);
        QCOMPARE(settled(0.02, 12ms), 600ms);
        QCOMPARE(settled(0.16, 12ms), 75ms);
    }
    void neverMoreThanThirtyASecondNorLessThanOne() {
        QCOMPARE(settled(0.02, 10us), UpdatePace::kShortest);
        QCOMPARE(settled(0.02, 5s), UpdatePace::kLongest);
    }
    void beginsAtOnce() {
        UpdatePace pace(0.02);
        QCOMPARE(pace.next(3s), UpdatePace::kShortest);
        QCOMPARE(pace.next(3s + 400ms), UpdatePace::kShortest);  // the page that was just made is no update
    }
    void oneDearUpdateIsForgotten() {
        UpdatePace pace(0.02);
        UpdatePace::Seconds used{0};
        for (int i = 0; i < 10; ++i) pace.next(used += 4ms);
        QCOMPARE(pace.next(used += 900ms), 200ms);
        QCOMPARE(pace.next(used += 4ms), 200ms);
    }
    void theClockRunsWithWork() {
        const auto before = UpdatePace::usedByProcess();
        volatile double sink = 0;
        while (UpdatePace::usedByProcess() - before < 5ms) sink = sink + 1;
        QVERIFY(UpdatePace::usedByProcess() > before);
        QVERIFY(UpdatePace::shareOfThisMachine() > 0);
    }
};

QTEST_GUILESS_MAIN(TestUpdatePace)
#include "tst_update_pace.moc"
