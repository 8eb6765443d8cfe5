#include <QtTest>

#include "engine/queue/queue_problem.h"
#include "engine/queue/sweep_progress.h"

using namespace lockstep;

namespace {

GroupTrial placed(std::int64_t cell, std::int64_t repeat, std::optional<RunState> state = {}, bool isQueued = false) {
    GroupTrial trial;
    trial.place = {1, cell, repeat};
    trial.trial = 10 * cell + repeat + 1;
    trial.state = state;
    trial.isQueued = isQueued;
    return trial;
}

}  // namespace

class TestSweepProgress : public QObject {
    Q_OBJECT
private slots:
    void cellsAreKeptAsTheyAre() {
        const Cell cell{{"optimizer", std::string("adamw")},
                        {"batch", std::int64_t{64}},
                        {"learning_rate", 1.0},
                        {"optimizer.beta2", 0.1 + 0.2},
                        {"dataset.flip", true}};
        QVERIFY(cellFrom(cellText(cell)) == cell);
        QCOMPARE(cellText(cell), cellText(cellFrom(cellText(cell))));
        for (const char* bad : {"", "[1]", "{\"batch\":[1]}", "{\"batch\""}) {
            try {
                cellFrom(bad);
                QFAIL(bad);
            } catch (const ProblemError& error) {
                QCOMPARE(error.problem().code, std::string("group.malformed"));
            }
        }
    }

    void repeatsHaveSeedsOfTheirOwn() {
        SweepSpec sweep;
        sweep.trial.seed = 5;
        const Cell cell{{"batch", std::int64_t{64}}};
        QCOMPARE(trialAt(sweep, cell, 0).seed, std::uint64_t{5});
        QCOMPARE(trialAt(sweep, cell, 2).seed, std::uint64_t{7});
        QCOMPARE(trialAt(sweep, cell, 2).batch, std::int64_t{64});
    }

    void allRepeatsOfACellComeBeforeTheNext() {
        std::vector<GroupTrial> made;
        QCOMPARE(nextPlace(1, 0, 2, made), std::optional<GroupPlace>());
        QCOMPARE(nextPlace(1, 2, 2, made), std::optional(GroupPlace{1, 0, 0}));
        made = {placed(0, 0), placed(0, 1), placed(1, 1)};
        QCOMPARE(nextPlace(1, 2, 2, made), std::optional(GroupPlace{1, 1, 0}));
        made.push_back(placed(1, 0));
        made.back().trial.reset();  // removed for good: it is not made again
        QCOMPARE(nextPlace(1, 2, 2, made), std::optional<GroupPlace>());
    }

    void oneWaitsBehindThoseThatRun() {
        SweepSpec sweep;
        sweep.parallel = 2;
        QCOMPARE(trialsToMake(sweep, 0, false), std::int64_t{3});
        QCOMPARE(trialsToMake(sweep, 2, false), std::int64_t{1});
        QCOMPARE(trialsToMake(sweep, 5, false), std::int64_t{0});
        QCOMPARE(trialsToMake(sweep, 0, true), std::int64_t{2});
    }

    void tooManyFailuresEndIt() {
        SweepSpec sweep;
        std::vector<GroupTrial> made;
        const Problem why{"batch", "spec.out-of-range", {"0", "1"}};  // stands within the problem, for its words
        for (std::int64_t i = 0; i < kHopeless; ++i) {
            QVERIFY(!tooManyFailures(sweep, made, why));
            made.push_back(placed(i, 0, RunState::Failed));
        }
        QCOMPARE(tooManyFailures(sweep, made, why),
                 std::optional(Problem{"sweep", "sweep.all-failed", {"8", "spec.out-of-range", "batch", "0", "1"}}));
        made.push_back(placed(kHopeless, 0, RunState::Finished));
        QVERIFY(!tooManyFailures(sweep, made, why));
        sweep.maxFailures = 9;
        QVERIFY(!tooManyFailures(sweep, made, why));
        sweep.maxFailures = 8;
        QCOMPARE(tooManyFailures(sweep, made, why),
                 std::optional(Problem{
                     "max_failures", "sweep.too-many-failures", {"8", "8", "spec.out-of-range", "batch", "0", "1"}}));
        made[0].isQueued = true;  // it is tried again
        QVERIFY(!tooManyFailures(sweep, made, why));
    }

    void problemsAreKept() {
        const Problem problem{"data/\"x\"", "dataset.not-found", {"a, b", ""}};
        QCOMPARE(problemFrom(problemText(problem)), std::optional(problem));
        QVERIFY(!problemFrom("") && !problemFrom("{}") && !problemFrom("[]"));
    }
};

QTEST_APPLESS_MAIN(TestSweepProgress)
#include "tst_sweep_progress.moc"
