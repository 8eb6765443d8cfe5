#include <QtTest>

#include <atomic>
#include <thread>
#include <vector>

#include "engine/backend/cpu/wait_policy.h"

using namespace lockstep::cpu;

namespace {

// What it says after so long, looked at twenty times a second, in which so many cores were missing.
bool isBusyAfter(Contention& contention, double seconds, double missing) {
    constexpr double kLook = 0.05;
    bool busy = false;
    for (double at = kLook / 2; at < seconds; at += kLook) busy = contention.busyAfter(missing * kLook, kLook);
    return busy;
}

}  // namespace

class TstWaitPolicy : public QObject {
    Q_OBJECT

private slots:
    void aMachineIsIdleUntilCoresAreMissing() {
        Contention contention;
        QVERIFY(!isBusyAfter(contention, 10, 0.35));  // what a window and a loader may take
        QVERIFY(!isBusyAfter(contention, 0.05, 1));   // one hiccup
        QVERIFY(isBusyAfter(contention, 1, 0.76));    // a process that never rests, beside two threads on two cores
    }

    void moreMissingIsSeenSooner() {
        Contention contention;
        QVERIFY(isBusyAfter(contention, 0.1, 4));  // three trials on two cores
    }

    void itIsIdleAgainWhenFewAreMissing() {
        Contention contention;
        QVERIFY(isBusyAfter(contention, 2, 1));
        QVERIFY(isBusyAfter(contention, 10, 0.45));  // threads that sleep miss less of the same neighbour
        QVERIFY(!isBusyAfter(contention, 1, 0.1));
    }

    void whatThreadsThatEndedTookAlongIsNothing() {
        Contention contention;
        QVERIFY(!contention.busyAfter(-3, 0.05));
    }

    void theSystemSaysHowLongThreadsWaitForCores() {
        const auto before = secondsWithoutCore();
        if (!before) QSKIP("this system does not say");
        std::atomic<bool> done = false;
        std::vector<std::jthread> threads;
        for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency() + 2; ++i)
            threads.emplace_back([&] {
                while (!done) {
                }
            });
        QTRY_VERIFY_WITH_TIMEOUT(secondsWithoutCore().value() > *before + 0.1, 20000);
        done = true;
    }

    void devicesShareOne() {
        const auto one = WaitPolicy::shared();
        QCOMPARE(WaitPolicy::shared(), one);
    }
};

QTEST_APPLESS_MAIN(TstWaitPolicy)
#include "tst_wait_policy.moc"
