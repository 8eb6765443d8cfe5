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

constexpr LinkModel kSlow{4e6, 1e-3};  // a megabyte between two takes 0.252 s

// A group whose ranks are held up for a while as soon as they have started an all-reduce, which is complete by then.
class HeldUp final : public Collective {
public:
    HeldUp(std::unique_ptr<Collective> inner, std::chrono::milliseconds time)
        : m_inner(std::move(inner)), m_time(time) {}

    int rank() const override { return m_inner->rank(); }
    int size() const override { return m_inner->size(); }
    Ticket allReduce(void* inout, std::size_t count, DType dtype) override {
        const Ticket ticket = m_inner->allReduce(inout, count, dtype);
        std::this_thread::sleep_for(m_time);
        return ticket;
    }
    Ticket reduceScatter(const void* in, void* out, std::size_t countPerRank, DType dtype) override {
        return m_inner->reduceScatter(in, out, countPerRank, dtype);
    }
    Ticket allGather(const void* in, void* out, std::size_t bytesPerRank) override {
        return m_inner->allGather(in, out, bytesPerRank);
    }
    Ticket broadcast(void* inout, std::size_t bytes, int root) override {
        return m_inner->broadcast(inout, bytes, root);
    }
    Ticket send(const void* in, std::size_t bytes, int to) override { return m_inner->send(in, bytes, to); }
    Ticket receive(void* out, std::size_t bytes, int from) override { return m_inner->receive(out, bytes, from); }
    void progress() override { m_inner->progress(); }
    void wait(Ticket ticket) override { m_inner->wait(ticket); }
    void barrier() override { m_inner->barrier(); }
    std::unique_ptr<Collective> subgroup(std::span<const int> ranks) override { return m_inner->subgroup(ranks); }
    void abort(const AbortCause& cause) noexcept override { m_inner->abort(cause); }
    AbortCause abortCause() const override { return m_inner->abortCause(); }
    std::optional<std::uint64_t> stalledAt() const override { return m_inner->stalledAt(); }
    std::vector<int> missingAt(std::uint64_t operation) const override { return m_inner->missingAt(operation); }

private:
    std::unique_ptr<Collective> m_inner;
    std::chrono::milliseconds m_time;
};

}  // namespace

// No upper bounds but of minutes: a busy machine may always take longer.
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
                for (int round = 0; round < 100; ++round) {  // more than fit into the ring
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
                if (since(begin) < 0.5 * travel) return;  // one quiet round is enough on a busy machine
            }
            qFatal("nothing was hidden");
        });
    }

    // Also by a rank that finds the operation complete while the late one is still within the call that started it.
    void aRankThatComesLateIsWaitedFor() {
        constexpr std::chrono::milliseconds kLate{50};
        for (const auto heldUp : {std::chrono::milliseconds(0), 2 * kLate}) {
            auto ranks = makeHostGroup(2);
            ranks[1] = std::make_unique<HeldUp>(std::move(ranks[1]), heldUp);
            const auto begin = Clock::now();
            RankTeam(withSimulatedLinks(std::move(ranks), kSlow)).expect([&](Collective& group) {
                std::vector<float> x(25'000, 1);
                if (group.rank() == 1) std::this_thread::sleep_for(kLate);
                group.wait(group.allReduce(x.data(), x.size(), DType::F32));
                const double arrival =
                    std::chrono::duration<double>(kLate).count() + allReduceSeconds(kSlow, 2, 100'000);
                if (since(begin) < arrival) qFatal("too early: %g s", since(begin));
            });
        }
    }

    void anAbortedGroupIsLeftAtOnce() {
        RankTeam team(withSimulatedLinks(makeHostGroup(2), {1000, 0}));  // minutes
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
        QVERIFY(since(begin) < 20);
    }
};

QTEST_GUILESS_MAIN(TstSimulatedLinks)
#include "tst_simulated_links.moc"
