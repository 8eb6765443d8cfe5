#include <QtTest>

#include <atomic>
#include <thread>
#include <vector>

#include "engine/backend/cpu/wait_policy.h"

using namespace lockstep::cpu;

class TstWaitPolicy : public QObject {
    Q_OBJECT

private slots:
    void aMachineIsIdleUntilCoresAreMissing() {
        Contention contention;
        for (int i = 0; i < 100; ++i) QVERIFY(!contention.busyAfter(0.001, 0.05));
        QVERIFY(contention.busyAfter(0.01, 0.05));
    }

    void itIsIdleAgainAfterASecondInWhichNoneWere() {
        Contention contention;
        QVERIFY(contention.busyAfter(0.05, 0.05));
        for (int i = 0; i < 9; ++i) QVERIFY(contention.busyAfter(0, 0.1));
        QVERIFY(contention.busyAfter(0.1, 0.1));  // once more, and the second begins anew
        for (int i = 0; i < 9; ++i) QVERIFY(contention.busyAfter(0, 0.1));
        QVERIFY(!contention.busyAfter(0, 0.11));
    }

    void whatThreadsThatEndedTookAlongIsNothing() {
        Contention contention;
        QVERIFY(!contention.busyAfter(-3, 0.05));
    }

    void theSystemSaysHowLongThreadsWaitForCores() {
        const double before = secondsWithoutCore();
        if (before < 0) QSKIP("this system does not say");
        std::atomic<bool> done = false;
        std::vector<std::jthread> threads;
        for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency() + 2; ++i)
            threads.emplace_back([&] {
                while (!done) {
                }
            });
        QTRY_VERIFY_WITH_TIMEOUT(secondsWithoutCore() > before + 0.1, 20000);
        done = true;
    }

    void devicesShareOne() {
        const auto one = WaitPolicy::shared();
        QCOMPARE(WaitPolicy::shared(), one);
    }
};

QTEST_APPLESS_MAIN(TstWaitPolicy)
#include "tst_wait_policy.moc"
