#include <QtTest>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "engine/search/rungs.h"

using namespace lockstep;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// So many workers train cells whose losses are the same at every rung, an epoch in a unit of time; what they did in
// order: "1@0", cell 1 to rung 0.
class Race {
public:
    Race(Rungs rungs, std::vector<double> losses, std::size_t workers)
        : m_rungs(std::move(rungs)), m_losses(std::move(losses)), m_workers(workers) {}

    // `atMost`: so many jobs begin.
    void run(int atMost = std::numeric_limits<int>::max()) {
        for (;;) {
            while (m_busy.size() < m_workers && atMost > 0 && begin()) --atMost;
            if (m_busy.empty()) return;
            const auto [when, cell] = *m_busy.begin();
            m_busy.erase(m_busy.begin());
            m_time = when.first;
            Climber& climber = m_climbers[static_cast<std::size_t>(cell)];
            climber.losses.push_back(m_losses[static_cast<std::size_t>(cell)]);
            climber.arrivals.push_back(++m_arrivals);
        }
    }

    QStringList jobs;
    std::int64_t epochs = 0;
    std::int64_t time() const { return m_time; }
    const std::vector<Climber>& climbers() const { return m_climbers; }

private:
    bool begin() {
        auto shuffled = m_climbers;
        std::ranges::reverse(shuffled);
        const auto promoted = nextPromotion(m_rungs, shuffled);
        if (!promoted && m_climbers.size() == m_losses.size()) return false;
        if (!promoted) m_climbers.push_back({.cell = std::ssize(m_climbers)});
        Climber& climber = promoted ? m_climbers[static_cast<std::size_t>(*promoted)] : m_climbers.back();
        if (promoted) ++climber.goal;
        const std::int64_t done = climber.goal ? m_rungs.epochs[climber.goal - 1] : 0;
        const std::int64_t takes = m_rungs.epochs[climber.goal] - done;
        epochs += takes;
        jobs << QString("%1@%2").arg(climber.cell + 1).arg(climber.goal);
        m_busy.emplace(std::pair(m_time + takes, ++m_begun), climber.cell);
        return true;
    }

    Rungs m_rungs;
    std::vector<double> m_losses;
    std::size_t m_workers;
    std::vector<Climber> m_climbers;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> m_busy;
    std::int64_t m_time = 0, m_begun = 0, m_arrivals = 0;
};

const std::vector<double> kLosses{5, 3, 8, 1, 9, 2, 7, 4, 6};
Rungs nine(bool stops = false) { return rungsOf(1, 3, 9, stops).value(); }

}  // namespace

class TestRungs : public QObject {
    Q_OBJECT
private slots:
    void theLeaderIsTheBestOfTheHighestRung() {
        QVERIFY(!leaderOf({}));
        std::vector<Climber> climbers{{.cell = 0, .losses = {kNaN}}, {.cell = 1}};
        QVERIFY(!leaderOf(climbers));
        climbers.push_back({.cell = 2, .losses = {0.5}});
        climbers.push_back({.cell = 3, .losses = {0.25, kNaN}});
        QCOMPARE(leaderOf(climbers), std::optional<std::int64_t>(3));
        climbers.push_back({.cell = 4, .losses = {0.9, 0.8}});
        climbers.push_back({.cell = 5, .losses = {0.9, 0.8}});
        QCOMPARE(leaderOf(climbers), std::optional<std::int64_t>(4));
    }

    // By hand from algorithm 2 of the paper.
    void asha() {
        Race race(nine(), kLosses, 1);
        race.run();
        QCOMPARE(race.jobs.join(' '), QString("1@0 2@0 3@0 2@1 4@0 4@1 5@0 6@0 6@1 4@2 7@0 8@0 9@0"));
        QCOMPARE(race.epochs, 21);
        Race two(nine(), kLosses, 2);
        two.run();
        QCOMPARE(two.time(), 13);
    }

    void goesOnFromTheResultsAlone() {
        Race race(nine(), kLosses, 1);
        race.run(6);
        race.run();
        QCOMPARE(race.jobs.join(' '), QString("1@0 2@0 3@0 2@1 4@0 4@1 5@0 6@0 6@1 4@2 7@0 8@0 9@0"));
    }

    void theStoppingVariantSpendsMore() {
        Race race(nine(true), kLosses, 1);
        race.run();
        QCOMPARE(race.epochs, 35);
        QCOMPARE(race.jobs.mid(0, 6).join(' '), QString("1@0 1@1 1@2 2@0 2@1 2@2"));
    }

    void aFailureIsWorstAndGoesNowhere() {
        for (const bool stops : {false, true}) {
            Race race(nine(stops), {kNaN, kNaN, kNaN, 2, kNaN, 1}, 1);
            race.run();
            std::set<std::int64_t> higher;
            for (const Climber& each : race.climbers()) {
                if (each.losses.size() > 1) higher.insert(each.cell);
            }
            QVERIFY(!higher.contains(0) && !higher.contains(4));
            QVERIFY(higher.contains(5));
        }
        const std::vector<Climber> all{{.cell = 0, .losses = {kNaN}, .arrivals = {1}},
                                       {.cell = 1, .losses = {7}, .arrivals = {2}}};
        QCOMPARE(standingOf(all, 0)->rank, 2);
        QCOMPARE(standingOf(all, 1)->rank, 1);
    }

    void equalOnesGoByTheirNumbers() {
        Race race(nine(), {4, 4, 4, 4, 4, 4}, 1);
        race.run();
        QCOMPARE(race.jobs.join(' '), QString("1@0 2@0 3@0 1@1 4@0 5@0 6@0 2@1"));
        QCOMPARE(standingOf(race.climbers(), 5)->rank, 6);
        QCOMPARE(standingOf(race.climbers(), 0)->rung, std::size_t(1));
        QVERIFY(!standingOf(race.climbers(), 17));
    }

    // Whatever the order and the workers, no rung lets more than its share go on, and nobody skips one.
    void noRungLetsMoreThanItsShareGoOn() {
        std::vector<double> losses;
        for (int i = 0; i < 81; ++i) losses.push_back((i * 37) % 81);
        for (const std::size_t workers : {1U, 2U, 5U}) {
            Race race(rungsOf(1, 3, 27, false).value(), losses, workers);
            race.run();
            std::array<std::int64_t, 4> came{};
            for (const Climber& each : race.climbers()) {
                QCOMPARE(each.losses.size(), each.goal + 1);
                for (std::size_t rung = 0; rung < each.losses.size(); ++rung) ++came[rung];
            }
            QCOMPARE(came[0], 81);
            for (std::size_t rung = 1; rung < came.size(); ++rung) QVERIFY(came[rung] <= came[rung - 1] / 3 * 2);
            QVERIFY(race.climbers()[0].losses.size() == 4);  // loss 0: the best of all
        }
    }

    void rungs() {
        const auto epochs = [](std::int64_t first, std::int64_t reduction, std::int64_t all) {
            return rungsOf(first, reduction, all, false).value().epochs;
        };
        QCOMPARE(epochs(1, 3, 9), (std::vector<std::int64_t>{1, 3, 9}));
        QCOMPARE(epochs(1, 3, 81), (std::vector<std::int64_t>{1, 3, 9, 27, 81}));
        QCOMPARE(epochs(1, 3, 10), (std::vector<std::int64_t>{1, 3, 10}));
        QCOMPARE(epochs(2, 4, 40), (std::vector<std::int64_t>{2, 8, 40}));
        QCOMPARE(epochs(4, 3, 9), (std::vector<std::int64_t>{4, 9}));
        QCOMPARE(rungsOf(9, 3, 9, false).problems().front().code, std::string("rungs.first"));
        QCOMPARE(rungsOf(0, 3, 9, false).problems().front().code, std::string("rungs.first"));
        QCOMPARE(rungsOf(1, 1, 9, false).problems().front().code, std::string("rungs.reduction"));
    }

    // Synchronous halving of 27 cells: 63 epochs instead of 243.
    void plan() {
        const auto plan = planOf(nine(), 27);
        QCOMPARE(plan.size(), std::size_t(3));
        QCOMPARE(plan[1].cells, 9);
        QCOMPARE(plan[2].cells, 3);
        QCOMPARE(epochsOf(plan), 27 + 9 * 2 + 3 * 6);
    }

    // scipy.stats.spearmanr([1, 2, 3, 4, 4], [1, 3, 2, 5, 4]).
    void correlationOfRanks() {
        std::vector<Climber> all;
        const double first[] = {1, 2, 3, 4, 4}, second[] = {1, 3, 2, 5, 4};
        for (int i = 0; i < 5; ++i) all.push_back({.cell = i, .losses = {first[i], second[i]}, .arrivals = {i, i}});
        QVERIFY(std::abs(*rankCorrelation(all, 0) - 0.8720815992723809) < 1e-12);
        all.push_back({.cell = 5, .losses = {1}, .arrivals = {9}});
        all.push_back({.cell = 6, .losses = {1, kNaN}, .arrivals = {9, 9}});
        QVERIFY(std::abs(*rankCorrelation(all, 0) - 0.8720815992723809) < 1e-12);
        QVERIFY(!rankCorrelation(all, 1));
        const RungCount lowest = countAt(all, 0);
        QCOMPARE(lowest.cells, 7);
        QCOMPARE(*lowest.correlation, *rankCorrelation(all, 0));
        for (Climber& each : all) each.losses = {2, 2};
        QVERIFY(!rankCorrelation(all, 0));
    }

    void whoWentOnIsCounted() {
        const std::vector<Climber> all{{.cell = 0, .losses = {1, 2}, .arrivals = {0, 3}, .goal = 1},
                                       {.cell = 1, .losses = {2}, .arrivals = {1}, .goal = 1},
                                       {.cell = 2, .losses = {3}, .arrivals = {2}},
                                       {.cell = 3}};
        QCOMPARE(countAt(all, 0).cells, 3);
        QCOMPARE(countAt(all, 0).wentOn, 2);
        QCOMPARE(countAt(all, 1).cells, 1);
        QCOMPARE(countAt(all, 1).wentOn, 0);
        QVERIFY(!countAt(all, 0).correlation);
    }
};

QTEST_GUILESS_MAIN(TestRungs)
#include "tst_rungs.moc"
