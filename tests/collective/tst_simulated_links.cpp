#include <QtTest>

#include <chrono>
#include <thread>

#include "engine/collective/simulated_links.h"
#include "engine/core/error.h"
#include "tests/collective/rank_team.h"

using namespace lockstep;

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

constexpr LinkModel kSlow{4e6, 1e-3};              // a megabyte between two takes 0.252 s

}  // namespace

// No upper bounds: a busy machine may always take longer.
class TstSimulatedLinks : public QObject {
    Q_OBJECT

private slots:
    void aRingTakesItsTime() {
        QCOMPARE(allReduceSeconds({1e9, 0}, 2, 1'000'000), 1e-3);
        QCOMPARE(allReduceSeconds({1e9, 0}, 4, 1'000'000), 1.5e-3);
        QCOMPARE(allReduceSeconds({0, 1e-3}, 4, 1'000'000), 6e-3);
        QCOMPARE(allReduceSeconds({1e9, 1e-3}, 1, 1'000'000), 0.0);
    }

    void sumsAreThoseOfTheGroup() {
        for (const int ranks : {1, 2, 3}) {
            RankTeam(withSimulatedLinks(makeHostGroup(ranks), {1e9, 1e-5})).expect([&](Collective& group) {
                for (int round = 0; round < 100; ++round) {          // more than fit into the ring
                    std::vector<double> x(1000, group.rank() + round);
                    group.wait(group.allReduce(x.data(), x.size(), DType::F64));
                    const double sum = ranks * (ranks - 1) / 2.0 + ranks * round;
                    if (std::ranges::any_of(x, [&](double each) { return each != sum; })) qFatal("another sum");
                }
            });
        }
    }

    void anOperationArrivesNoEarlierThanItsLinkCarriesIt() {
        RankTeam(withSimulatedLinks(makeHostGroup(2), kSlow)).expect([](Collective& group) {
            std::vector<float> x(50'000, 1);
            const auto begin = Clock::now();
            const Ticket ticket = group.allReduce(x.data(), x.size(), DType::F32);
            if (since(begin) > 0.03) qWarning("starting took %g s", since(begin));
            group.wait(ticket);
            if (since(begin) < allReduceSeconds(kSlow, 2, 200'000)) qFatal("too early: %g s", since(begin));
        });
    }

    // Two operations share the link, and the first is there before the second.
    void operationsTravelOneAfterTheOther() {
        RankTeam(withSimulatedLinks(makeHostGroup(2), kSlow)).expect([](Collective& group) {
            std::vector<float> x(25'000, 1), y(25'000, 1);
            const double each = allReduceSeconds(kSlow, 2, 100'000);
            const auto begin = Clock::now();
            group.allReduce(x.data(), x.size(), DType::F32);
            group.wait(group.allReduce(y.data(), y.size(), DType::F32));
            if (since(begin) < 2 * each) qFatal("too early: %g s", since(begin));
        });
    }

    // The time in which a rank computes counts for the link: what it would take has passed by then.
    void travellingGoesOnWhileARankComputes() {
        RankTeam(withSimulatedLinks(makeHostGroup(2), kSlow)).expect([](Collective& group) {
            std::vector<float> x(50'000, 1);
            const double travel = allReduceSeconds(kSlow, 2, 200'000);
            for (int round = 0; round < 3; ++round) {
                group.barrier();
                const Ticket ticket = group.allReduce(x.data(), x.size(), DType::F32);
                std::this_thread::sleep_for(std::chrono::duration<double>(1.5 * travel));
                const auto begin = Clock::now();
                group.wait(ticket);
                if (since(begin) < 0.5 * travel) return;             // one quiet round is enough on a busy machine
            }
            qFatal("nothing was hidden");
        });
    }

    void aRankThatComesLateIsWaitedFor() {
        RankTeam(withSimulatedLinks(makeHostGroup(2), kSlow)).expect([](Collective& group) {
            std::vector<float> x(25'000, 1);
            const auto begin = Clock::now();
            if (group.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));
            group.wait(group.allReduce(x.data(), x.size(), DType::F32));
            const double travel = allReduceSeconds(kSlow, 2, 100'000);
            if (group.rank() == 0 && since(begin) < 0.04 + travel) qFatal("too early: %g s", since(begin));
        });
    }

    void anAbortedGroupIsLeftAtOnce() {
        RankTeam team(withSimulatedLinks(makeHostGroup(2), {1000, 0}));      // minutes
        const auto begin = Clock::now();
        const auto failures = team.run([](Collective& group) {
            std::vector<float> x(100'000, 1);
            const Ticket ticket = group.allReduce(x.data(), x.size(), DType::F32);
            if (group.rank() == 1) {
                std::this_thread::sleep_for(std::chrono::milliseconds(30));
                group.abort({1, "internal", "here", "enough"});
            }
            group.wait(ticket);
        });
        for (const auto& failure : failures) QVERIFY(failure);
        QVERIFY(since(begin) < 1);
    }
};

QTEST_GUILESS_MAIN(TstSimulatedLinks)
#include "tst_simulated_links.moc"
