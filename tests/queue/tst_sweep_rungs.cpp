#include <QtTest>
#include <cmath>

#include "engine/queue/sweep_rungs.h"
#include "engine/queue/tried_cells.h"

using namespace lockstep;

namespace {

// Rungs at 1, 3 and 9 epochs, two trials a cell.
SweepSpec sweep() {
    SweepSpec sweep;
    sweep.trial.epochs = 9;
    sweep.scheduler = "asha";
    sweep.repeats = 2;
    return sweep;
}

const Metric& accuracy() { return *findMetric("test_accuracy"); }

GroupTrial at(std::int64_t cell, std::int64_t repeat, std::optional<std::int64_t> untilEpoch,
              RunState state = RunState::Stopped, bool isQueued = false) {
    GroupTrial trial{.place = {1, cell, repeat}, .trial = 2 * cell + repeat + 1, .state = state, .isQueued = isQueued};
    trial.untilEpoch = untilEpoch;
    return trial;
}

GroupValue value(std::int64_t cell, std::int64_t repeat, std::int64_t epoch, double value) {
    return {{1, cell, repeat}, epoch, value};
}

}  // namespace

class TestSweepRungs : public QObject {
    Q_OBJECT
private slots:
    // The mean over its trials of the best until then; better is lower.
    void aCellsLoss() {
        const std::vector<GroupTrial> trials{at(0, 0, 3), at(0, 1, 3)};
        const std::vector<GroupValue> values{value(0, 0, 1, 0.75), value(0, 0, 2, 1), value(0, 0, 3, 0.5),
                                             value(0, 1, 1, 0.25), value(0, 1, 2, 0), value(0, 1, 3, 0.5)};
        const auto climbers = climbersOf(sweep(), accuracy(), trials, values, {});
        QCOMPARE(climbers.size(), std::size_t(1));
        QCOMPARE(climbers[0].losses, (std::vector<double>{-0.5, -0.75}));
        QCOMPARE(climbers[0].goal, std::size_t(1));
        QVERIFY(climbers[0].isAtGoal());
        QCOMPARE(newArrivals(climbers, {}), (std::vector<RungArrival>{{0, 0}, {0, 1}}));
        QVERIFY(newArrivals(climbers, newArrivals(climbers, {})).empty());
    }

    void aRungIsReachedByAllTrialsOfACell() {
        const std::vector<GroupValue> values{value(0, 0, 1, 0.6)};
        const auto lossesWith = [&](const GroupTrial& second) {
            return climbersOf(sweep(), accuracy(), std::vector{at(0, 0, 1), second}, values, {})[0].losses;
        };
        QVERIFY(lossesWith(at(0, 1, 1, RunState::Running, true)).empty());
        QVERIFY(lossesWith(at(0, 1, 1, RunState::Failed, true)).empty());  // it is tried again
        for (const RunState state : {RunState::Failed, RunState::Crashed, RunState::Cancelled, RunState::Stopped}) {
            QCOMPARE(lossesWith(at(0, 1, 1, state)).size(), std::size_t(1));
            QVERIFY(std::isnan(lossesWith(at(0, 1, 1, state))[0]));
        }
        QVERIFY(climbersOf(sweep(), accuracy(), std::vector{at(0, 0, 1)}, values, {})[0].losses.empty());
    }

    // First the cell's other trials, then the best cell's first one; the last rung is the trial's end.
    void whoGoesOn() {
        std::vector<GroupTrial> trials;
        std::vector<GroupValue> values;
        for (int cell = 0; cell < 3; ++cell) {
            for (int repeat = 0; repeat < 2; ++repeat) {
                trials.push_back(at(cell, repeat, 1));
                values.push_back(value(cell, repeat, 1, cell == 1 ? 0.9 : 0.5));
            }
        }
        const Rungs rungs = *rungsOf(sweep());
        const auto next = [&] {
            return nextAscent(rungs, climbersOf(sweep(), accuracy(), trials, values, {}), trials);
        };
        QCOMPARE(next()->place, (GroupPlace{1, 1, 0}));
        QCOMPARE(next()->untilEpoch, std::optional<std::int64_t>(3));
        trials[2] = at(1, 0, 3, RunState::Running, true);
        QCOMPARE(next()->place, (GroupPlace{1, 1, 1}));
        QCOMPARE(next()->untilEpoch, std::optional<std::int64_t>(3));
        trials[3] = at(1, 1, 3, RunState::Running, true);
        QVERIFY(!next());

        SweepSpec two = sweep();
        two.trial.epochs = 2;
        const Rungs short2 = *rungsOf(two);
        trials[2] = at(1, 0, 1), trials[3] = at(1, 1, 1);
        const auto last = nextAscent(short2, climbersOf(two, accuracy(), trials, values, {}), trials);
        QVERIFY(last && !last->untilEpoch);
    }

    // A person who trains one to its end takes nothing from the others.
    void oneThatWasTrainedFurtherByHand() {
        const std::vector<GroupTrial> trials{at(0, 0, 1, RunState::Finished), at(0, 1, 1, RunState::Finished)};
        std::vector<GroupValue> values;
        for (const int repeat : {0, 1}) {
            for (int epoch = 1; epoch <= 9; ++epoch) values.push_back(value(0, repeat, epoch, 0.1 * epoch));
        }
        const auto climbers = climbersOf(sweep(), accuracy(), trials, values, {});
        QCOMPARE(climbers[0].losses.size(), std::size_t(3));
        QCOMPARE(climbers[0].goal, std::size_t(2));
    }

    // What a method learns from; each finished trial is asked once.
    void whatWasSuggestedAndWhatBecameOfIt() {
        std::vector<Cell> cells;
        for (std::int64_t i = 0; i < 6; ++i) cells.push_back({{"batch", 32 * (i + 1)}});
        std::vector<GroupTrial> trials{at(0, 0, {}, RunState::Finished),
                                       at(0, 1, {}, RunState::Finished),
                                       at(1, 0, 3),
                                       at(1, 1, 3),
                                       at(2, 0, 1, RunState::Running, true),
                                       at(2, 1, 1),
                                       at(3, 0, 1, RunState::Failed),
                                       at(3, 1, 1, RunState::Failed),
                                       at(4, 0, 1)};  // its other one was not made yet
        for (std::size_t i : {2, 3, 5}) trials[i].hasComeThere = true;
        trials.push_back(at(5, 0, {}, RunState::Finished));
        trials.push_back(at(5, 1, {}, RunState::Finished));
        trials.back().isDeleted = true;
        const std::vector<Climber> climbers{{.cell = 1, .losses = {-0.5, -0.625}, .arrivals = {0, 1}, .goal = 1}};
        std::vector<std::int64_t> asked;
        const auto best = [&](std::int64_t trial) -> std::optional<double> {
            asked.push_back(trial);
            return trial == 1 ? 0.75 : 0.5;
        };
        const auto tried = suggestedCells(sweep(), &accuracy(), cells, trials, climbers, best);
        QCOMPARE(tried.size(), cells.size());
        const auto is = [&](std::size_t cell, TriedState state, double loss, std::int64_t epoch) {
            const Tried& each = tried[cell];
            return each.cell == cells[cell] && each.state == state && each.epoch == epoch &&
                   (std::isnan(loss) ? std::isnan(each.loss) : each.loss == loss);
        };
        QVERIFY(is(0, TriedState::Finished, -0.625, 9));
        QVERIFY(is(1, TriedState::Stopped, -0.625, 3));
        QVERIFY(is(2, TriedState::Running, NAN, 0));
        QVERIFY(is(3, TriedState::Failed, NAN, 0));
        QVERIFY(is(4, TriedState::Running, NAN, 0));
        QVERIFY(is(5, TriedState::Finished, -0.5, 9));
        QCOMPARE(asked, (std::vector<std::int64_t>{1, 2, 11}));
    }

    // The best until an epoch, of all that came there, however they went on.
    void whatCellsHadComeToByAnEpoch() {
        SweepResult result{.group = {}, .spec = sweep(), .objective = &accuracy()};
        for (std::int64_t i = 0; i < 4; ++i) result.cells.push_back({.number = i, .settings = {{"batch", i}}});
        std::vector<GroupTrial> trials{at(0, 0, {}, RunState::Finished), at(0, 1, 3), at(1, 0, 3, RunState::Failed),
                                       at(2, 0, 1), at(3, 0, 3)};
        trials.back().isDeleted = true;
        const std::vector<GroupValue> values{value(0, 0, 1, 0.25), value(0, 0, 3, 0.5), value(0, 0, 9, 0.75),
                                             value(0, 1, 2, 1.0),  value(0, 1, 3, 0.5), value(1, 0, 1, 0.25),
                                             value(1, 0, 4, 0.5),  value(2, 0, 1, 0.5), value(3, 0, 3, 0.5)};
        const auto at3 = triedCellsAt(result, trials, values, 3);
        QCOMPARE(at3.trials, std::int64_t{3});
        QCOMPARE(at3.tried.size(), std::size_t{2});
        QVERIFY(at3.tried[0].cell == result.cells[0].settings && at3.tried[0].loss == -0.75);
        QVERIFY(at3.tried[1].cell == result.cells[1].settings && at3.tried[1].loss == -0.25);
        QCOMPARE(triedCellsAt(result, trials, values, 1).tried.size(), std::size_t{3});
        QCOMPARE(triedCellsAt(result, trials, values, 9).trials, std::int64_t{1});
        QVERIFY(triedCellsAt(result, trials, values, 10).tried.empty());

        result.objective = findMetric("test_perplexity");  // of a loss
        const auto perplexity = triedCellsAt(result, std::vector{at(0, 0, 1)}, std::vector{value(0, 0, 1, 2.0)}, 1);
        QVERIFY(std::abs(perplexity.tried.at(0).loss - std::exp(2.0)) < 1e-12);
        result.objective = nullptr;  // no trial has begun
        QVERIFY(triedCellsAt(result, trials, values, 1).tried.empty());
    }

    void lossesOfLanguageModelsAreLowerTheBetter() {
        SweepSpec one = sweep();
        one.repeats = 1;
        for (const char* metric : {"test_loss", "test_perplexity"}) {
            const auto climbers =
                climbersOf(one, *findMetric(metric), std::vector{at(0, 0, 1)}, std::vector{value(0, 0, 1, 2.5)}, {});
            QCOMPARE(climbers[0].losses, std::vector<double>{2.5});
        }
    }
};

QTEST_GUILESS_MAIN(TestSweepRungs)
#include "tst_sweep_rungs.moc"
