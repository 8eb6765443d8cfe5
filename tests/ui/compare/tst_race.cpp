#include <QtTest>
#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>

#include "tests/ui/compare/compare_facts.h"
#include "ui/compare/race.h"
#include "ui/compare/race_text.h"
#include "ui/compare/time_to_target.h"

using namespace lockstep;
using namespace lockstep::ui;
using namespace lockstep::test;

namespace {

using Random = std::mt19937;

// Few values, so that many are equal; some are no numbers.
Runner madeRunner(std::int64_t trial, Random& random) {
    Runner runner{trial, static_cast<RunnerFate>(random() % 3)};
    EvaluationPoint point;
    const double length = 1 + random() % 3, devices = 1 + random() % 4;
    const auto count = random() % 8;
    for (std::size_t i = 0; i < count; ++i) {
        point.step += 10, point.epoch += 1, point.samples += 1280;
        point.seconds += length, point.deviceSeconds = point.seconds * devices;
        point.value = random() % 9 == 0 ? std::nan("") : static_cast<double>(random() % 6);
        runner.points.push_back(point);
    }
    return runner;
}

std::vector<Runner> madeRunners(Random& random) {
    std::vector<Runner> runners;
    const std::int64_t count = 1 + random() % 10;
    for (std::int64_t trial = 1; trial <= count; ++trial) runners.push_back(madeRunner(trial, random));
    return runners;
}

RaceRules madeRules(Random& random) {
    RaceRules rules{.better = random() % 2 ? Better::Higher : Better::Lower,
                    .clock = kRaceClocks[random() % kRaceClocks.size()]};
    if (random() % 3) rules.target = static_cast<double>(random() % 6);
    return rules;
}

bool isAtLeast(const RaceRules& rules, double value, double as) {
    return std::isfinite(value) && (rules.better == Better::Higher ? value >= as : value <= as);
}

// By the definition.
std::optional<double> scanned(const Runner& runner, const RaceRules& rules) {
    for (const EvaluationPoint& each : runner.points)
        if (rules.target && isAtLeast(rules, each.value, *rules.target)) return amountAt(each, rules.clock);
    return std::nullopt;
}

std::vector<std::int64_t> orderAt(const Race& race, double clock) {
    std::vector<std::int64_t> order;
    for (const RunnerState& each : race.at(clock)) order.push_back(race.runners()[each.runner].trial);
    return order;
}

// What every race must hold, at any moment of its clock.
void check(const Race& race) {
    const RaceRules& rules = race.rules();
    std::vector<double> before(race.runners().size(), 0);
    for (int part = 0; part <= 40; ++part) {
        const double clock = race.end() * part / 40;
        const auto states = race.at(clock);
        QCOMPARE(states.size(), race.runners().size());
        bool isBehindFinish = false;
        for (const RunnerState& state : states) {
            const Runner& runner = race.runners()[state.runner];
            double value = std::nan(""), best = std::nan("");
            for (const EvaluationPoint& each : runner.points) {
                if (amountAt(each, rules.clock) > clock) break;
                value = each.value;
                if (std::isfinite(value) && (std::isnan(best) || isAtLeast(rules, value, best))) best = value;
            }
            QVERIFY(state.value == value || (std::isnan(state.value) && std::isnan(value)));
            QVERIFY(state.best == best || (std::isnan(state.best) && std::isnan(best)));
            QVERIFY(state.progress >= before[state.runner] && state.progress <= 1);
            before[state.runner] = state.progress;
            const auto finish = scanned(runner, rules);
            QCOMPARE(race.reachedAt(state.runner), finish);
            QCOMPARE(state.reachedAt, finish && *finish <= clock ? finish : std::nullopt);
            QVERIFY(!(isBehindFinish && state.reachedAt));  // those that have reached it stand first
            isBehindFinish = !state.reachedAt;
        }
    }
}

}  // namespace

class TestRace : public QObject {
    Q_OBJECT
private slots:
    void everyRaceKeepsItsRules() {
        Random random(11);
        for (int round = 0; round < 300; ++round) check(Race(madeRunners(random), madeRules(random)));
    }

    // Whoever is named first has no advantage.
    void theOrderIsTotal() {
        Random random(12);
        for (int round = 0; round < 300; ++round) {
            auto runners = madeRunners(random);
            const RaceRules rules = madeRules(random);
            const Race race(runners, rules);
            std::ranges::shuffle(runners, random);
            const Race other(runners, rules);
            for (int part = 0; part <= 10; ++part) {
                const double clock = race.end() * part / 10;
                QCOMPARE(orderAt(race, clock), orderAt(other, clock));
            }
        }
    }

    void aRaceWithATargetEndsInTheOrderOfFinishTimes() {
        Random random(13);
        for (int round = 0; round < 300; ++round) {
            const Race race(madeRunners(random), madeRules(random));
            std::vector<double> times;
            for (const RunnerState& each : race.at(race.end()))
                if (const auto time = scanned(race.runners()[each.runner], race.rules())) times.push_back(*time);
            QVERIFY(std::ranges::is_sorted(times));
        }
    }

    // Those that were stopped behind the others, and at last failures without a value: as the list has them.
    void withoutATargetItEndsAsTheTrialsAreRanked() {
        Random random(14);
        for (int round = 0; round < 100; ++round) {
            CompareFacts facts;
            std::vector<Runner> runners;
            for (std::int64_t trial = 1; trial <= 10; ++trial) {
                Runner runner = madeRunner(trial, random);
                std::optional<double> best;
                if (runner.fate == RunnerFate::Failed) runner.points.clear();
                for (const EvaluationPoint& each : runner.points)
                    if (std::isfinite(each.value)) best = std::max(best.value_or(each.value), each.value);
                const char* const states[] = {"finished", "stopped", "failed"};
                facts.rows.push_back(madeRow(trial, best, states[static_cast<std::size_t>(runner.fate)]));
                runners.push_back(std::move(runner));
            }
            const CompareTable table = compareTable(facts);
            if (!table.objective) continue;
            std::vector<std::int64_t> ranked;
            for (const std::size_t row : table.ranking()) ranked.push_back(table.trials[row].trial);
            const Race race(runners, {.better = Better::Higher, .clock = PlotAxis::Time});
            QCOMPARE(orderAt(race, race.end()), ranked);
        }
    }

    // A clock of an older version began anew with each attempt.
    void aClockThatGoesBackStandsStill() {
        Runner runner{1, RunnerFate::Ran, {}};
        for (const auto& [seconds, value] : {std::pair(10.0, 0.5), std::pair(4.0, 0.6), std::pair(12.0, 0.7)})
            runner.points.push_back({.seconds = seconds, .value = value});
        const Race race({runner}, {.target = 0.6, .clock = PlotAxis::Time});
        QCOMPARE(race.reachedAt(0), std::optional(10.0));
        QCOMPARE(race.at(9).front().hasEnded, false);
        QVERIFY(std::isnan(race.at(9).front().value));
        QCOMPARE(race.at(11).front().value, 0.6);
        QCOMPARE(race.end(), 12.0);
    }

    void aRaceOfNobodyIsOver() {
        QCOMPARE(Race().end(), 0.0);
        QVERIFY(Race().at(0).empty());
        const Race empty({{.trial = 3}}, {.target = 1});
        QCOMPARE(empty.at(0).size(), std::size_t(1));
        QVERIFY(empty.at(0).front().hasEnded);
        QCOMPARE(raceFinishText(empty, 0), QString("–"));
    }

    void whoeverStaysShortIsBeyondTheBudget() {
        Runner runner{1, RunnerFate::Ran, {}};
        runner.points.push_back({.step = 1200, .epoch = 3, .samples = 153'600, .seconds = 72, .value = 0.5});
        const Race race({runner}, {.target = 0.9, .clock = PlotAxis::Step});
        QCOMPARE(raceFinishText(race, 0), QString("> 1,200 steps"));
        QCOMPARE(raceFinishText(Race({runner}, {.target = 0.5, .clock = PlotAxis::Epoch}), 0), QString("3 epochs"));
        QCOMPARE(raceFinishText(Race({runner}, {.target = 0.5, .clock = PlotAxis::Time}), 0), QString("1 min 12 s"));
        QCOMPARE(raceMoment(PlotAxis::Epoch, 1.2, 3), QString("Epoch 1.2 of 3"));
    }

    // The stretch is that of most; one that begins far back does not press the others together.
    void theBarsShareAStretch() {
        std::vector<Runner> runners;
        for (std::int64_t trial = 1; trial <= 5; ++trial)
            runners.push_back(
                {trial, RunnerFate::Ran, {{.step = 1, .value = trial == 1 ? 0.1 : 0.8}, {.step = 2, .value = 0.9}}});
        const Race race(runners, {.target = 0.85});
        QVERIFY(race.start() > 0.75 && race.start() < 0.8);
        QCOMPARE(race.progressOf(0.9), 1.0);
        QCOMPARE(race.progressOf(0.1), 0.0);
        QVERIFY(race.progressOf(0.85) > 0.4 && race.progressOf(0.85) < 0.6);
        const Race losses(runners, {.better = Better::Lower});
        QVERIFY(losses.start() > losses.goal());
        QVERIFY(losses.progressOf(0.1) > losses.progressOf(0.8));
    }
};

QTEST_APPLESS_MAIN(TestRace)
#include "tst_race.moc"
