#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>
#include <fstream>
#include <future>

#include "engine/history/queue_query.h"
#include "engine/history/queue_store.h"
#include "engine/queue/queue_keeper.h"
#include "engine/queue/queue_problem.h"
#include "engine/queue/queue_service.h"
#include "engine/queue/sweep_grower.h"
#include "engine/queue/sweep_progress.h"
#include "engine/queue/sweep_rungs.h"
#include "engine/trials/trial_service.h"

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

struct Home {
    Home() {
        const fs::path base = folder.path().toStdString();
        places = {base, base / "cache", base / "sockets", base / "config"};
        if (!preparePlaces(places).ok()) qFatal("no home");
    }
    std::unique_ptr<TrialStore> store() const { return TrialStore::open(places.history()).value(); }
    std::unique_ptr<TrialQuery> query() const { return TrialQuery::open(places.history()).value(); }
    std::vector<std::int64_t> order() const {
        const auto opened = query();
        std::vector<std::int64_t> trials;
        for (const auto& each : QueueQuery(*opened).entries()) trials.push_back(each.trial);
        return trials;
    }

    QTemporaryDir folder;
    Places places;
};

template <class Work>
std::string codeOf(Work&& work) {
    try {
        work();
    } catch (const ProblemError& error) {
        return error.problem().code;
    }
    return {};
}

using Order = std::vector<std::int64_t>;

}  // namespace

class TestQueueStore : public QObject {
    Q_OBJECT
private slots:
    void trialsAreMovedAmongOthers() {
        const Home home;
        const auto history = home.store();
        QueueStore queue(*history);
        for (int i = 0; i < 4; ++i) queue.createTrial({}, home.places.runs(), {}, {});
        QCOMPARE(home.order(), (Order{1, 2, 3, 4}));
        queue.moveBefore(4, 2);
        QCOMPARE(home.order(), (Order{1, 4, 2, 3}));
        queue.moveBefore(1, 0);
        QCOMPARE(home.order(), (Order{4, 2, 3, 1}));
        queue.setPriority(3, 5);
        QCOMPARE(home.order(), (Order{3, 4, 2, 1}));
        queue.moveBefore(1, 3);  // with the priority of the one that it comes before
        QCOMPARE(home.order(), (Order{1, 3, 4, 2}));
        queue.remove(3);
        queue.remove(3);
        QCOMPARE(home.order(), (Order{1, 4, 2}));
        QCOMPARE(codeOf([&] { queue.moveBefore(3, 1); }), std::string("queue.not-queued"));
        QCOMPARE(codeOf([&] { queue.setHeld(9, true); }), std::string("queue.not-queued"));
        history->deleteTrial(4, true);
        QCOMPARE(home.order(), (Order{1, 2}));
    }

    // However many write at once, nobody is lost and nobody is there twice.
    void fourClientsReorderAtOnce() {
        const Home home;
        const auto history = home.store();
        QueueStore queue(*history);
        for (int i = 0; i < 12; ++i) queue.createTrial({}, home.places.runs(), {}, {});
        std::vector<std::future<void>> clients;
        for (int client = 0; client < 4; ++client) {
            clients.push_back(std::async(std::launch::async, [&home, client] {
                const auto own = home.store();
                QueueStore mine(*own);
                for (int i = 0; i < 20; ++i) {
                    const std::int64_t trial = 1 + (7 * i + client) % 12, other = 1 + (5 * i + 3 * client) % 12;
                    if (i == 10) mine.remove(client + 1);
                    codeOf([&] { mine.moveBefore(trial, other); });
                    codeOf([&] { mine.setHeld(trial, i % 2 == 0); });
                }
            }));
        }
        for (auto& each : clients) each.get();
        Order left = home.order();
        std::ranges::sort(left);
        QCOMPARE(left, (Order{5, 6, 7, 8, 9, 10, 11, 12}));
    }

    void aPlaceIsTakenOnce() {
        const Home home;
        const auto history = home.store();
        QueueStore queue(*history);
        const auto group = queue.createGroup({.title = "a sweep", .specJson = "{}"});
        QVERIFY(queue.addCell(group, {0, "{\"batch\":64}"}));
        QVERIFY(!queue.addCell(group, {0, "{\"batch\":128}"}));  // another has suggested under that number
        QVERIFY(!queue.addCell(group, {1, "{\"batch\":64}"}));   // or this very cell
        const auto trial = queue.createTrial({}, home.places.runs(), {}, GroupPlace{group, 0, 0});
        QCOMPARE(queue.createTrial({}, home.places.runs(), {}, GroupPlace{group, 0, 0}), std::int64_t{0});
        QVERIFY(!queue.adopt({group, 0, 0}, trial));
        QVERIFY(queue.adopt({group, 0, 1}, trial));
        const auto query = home.query();
        const QueueQuery asked(*query);
        QCOMPARE(asked.cells(group), (std::vector<GroupCell>{{0, "{\"batch\":64}"}}));
        const auto members = asked.trials(group);
        QCOMPARE(members.size(), std::size_t{2});
        QVERIFY(members[0].trial == trial && members[0].isQueued && members[0].state == RunState::Queued);
        QVERIFY(members[1].adopted);
        QCOMPARE(asked.entries().front().place->group, group);
        QCOMPARE(query->list({}).size(), std::size_t{1});

        // Removed for good, its place stays taken.
        history->deleteTrial(trial, true);
        QVERIFY(!asked.trials(group)[0].trial);
        QCOMPARE(queue.createTrial({}, home.places.runs(), {}, GroupPlace{group, 0, 0}), std::int64_t{0});
    }

    void triesCountUntilItComesFurther() {
        const Home home;
        const auto history = home.store();
        QueueStore queue(*history);
        const auto trial = queue.createTrial({}, home.places.runs(), {}, {});
        const auto tries = [&] {
            const auto query = home.query();
            return QueueQuery(*query).entries().front().tries;
        };
        queue.countTry(trial, 0);
        queue.countTry(trial, 0);
        QCOMPARE(tries(), std::int64_t{2});
        queue.countTry(trial, 50);
        QCOMPARE(tries(), std::int64_t{1});
        queue.countTry(trial, 20);
        queue.countTry(trial, 30);  // not as far as it once was
        QCOMPARE(tries(), std::int64_t{3});
        queue.remove(trial);
        QVERIFY(!queue.countTry(trial, 20));  // it is not there any longer
        queue.add({.trial = trial});
        QVERIFY(queue.countTry(trial, 20));
        QCOMPARE(tries(), std::int64_t{1});
    }

    void settingsAreAskedForInSql() {
        const Home home;
        const auto history = home.store();
        TrialSpec spec;
        spec.optimizer = {"adamw", {{"beta2", 0.95}}};
        spec.learningRate = 0.003;
        const auto first = history->createTrial(spec, home.places.runs());
        spec.batch = 64;
        const auto second = history->createTrial(spec, home.places.runs());
        const auto found = [&](std::vector<Setting> settings) {
            const auto query = home.query();
            return QueueQuery(*query).finishedWith(settings);
        };
        const std::vector<Setting> both{{"optimizer", std::string("adamw")}, {"learning_rate", 0.003}};
        QVERIFY(found(both).empty());  // none has finished
        history->setState(first, RunState::Finished);
        history->setState(second, RunState::Finished);
        QCOMPARE(found(both), (Order{first, second}));
        QCOMPARE(found({{"batch", std::int64_t{64}}, {"optimizer.beta2", 0.95}}), Order{second});
        QVERIFY(found({{"optimizer.beta2", 0.9}}).empty());
        spec.batch = 32;
        history->setSpec(second, spec);
        history->flush();
        QCOMPARE(found({{"batch", std::int64_t{32}}}), Order{second});
    }

    // What has fallen out is told from what has finished, and comes again where it is asked for.
    void whatFellOutIsRetried() {
        const Home home;
        TrialService trials(home.places);
        QueueService queue(trials, "/bin/true");
        SweepSpec sweep;
        sweep.method = "grid";
        sweep.trials = 0;
        sweep.objective = "test_accuracy";
        sweep.vary = {{"seed", ChoiceOfValues{std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{4}}, {}}};
        QueueStore store(trials.store());
        const auto group = store.createGroup({.title = "a sweep", .specJson = sweepJson(sweep)});
        std::vector<std::int64_t> made;
        for (std::int64_t cell = 0; cell < 4; ++cell) {
            store.addCell(group, {cell, "{\"seed\":" + std::to_string(cell + 1) + "}"});
            made.push_back(store.createTrial({}, home.places.runs(), {}, GroupPlace{group, cell, 0}));
            store.remove(made.back());
        }
        trials.store().setState(made[0], RunState::Finished);
        trials.store().setState(made[1], RunState::Cancelled);
        trials.store().setState(made[2], RunState::Finished);
        trials.store().deleteTrial(made[2], false);
        trials.store().deleteTrial(made[3], true);
        const SweepResult before = queue.sweep(group);
        QCOMPARE(before.ended, std::int64_t{4});
        QCOMPARE(before.finished, std::int64_t{1});
        QCOMPARE(before.cancelled, std::int64_t{1});
        QCOMPARE(before.removed, std::int64_t{2});
        QCOMPARE(queue.retrySweep(group), std::int64_t{3});
        const SweepResult after = queue.sweep(group);
        QVERIFY(after.open == 1 && after.ended == 1 && after.fallenOut() == 0);
        const auto members = QueueQuery(trials.query()).trials(group);
        QCOMPARE(nextPlace(group, 4, 1, members), std::optional(GroupPlace{group, 2, 0}));  // it is made anew
    }

    // A trial that goes on from before its rung (its checkpoint is lost, or was freed) is trained anew until there:
    // what it came to stands meanwhile, or the others would take its place.
    void aCellThatIsTrainedAgainKeepsItsRung() {
        const Home home;
        const auto history = home.store();
        QueueStore queue(*history);
        SweepSpec sweep;
        sweep.trial.epochs = 4;
        sweep.scheduler = "asha";
        sweep.reduction = 2;
        const auto group = queue.createGroup({.title = "a sweep", .specJson = sweepJson(sweep)});
        const Metric& accuracy = *findMetric("test_accuracy");
        const auto evaluate = [&](std::int64_t trial, std::int64_t attempt, std::int64_t epoch, double value) {
            EvalDone done;
            done.epoch = epoch, done.step = 10 * epoch;
            done.accuracy = value, done.loss = 1;
            history->sinkFor(trial, attempt)->post(10 * attempt + epoch, done);
        };
        for (std::int64_t cell = 0; cell < 3; ++cell) {
            const auto trial = queue.createTrial({}, home.places.runs(), {}, GroupPlace{group, cell, 0},
                                                 std::optional<std::int64_t>(1));
            queue.remove(trial);
            evaluate(trial, history->beginAttempt(trial, 0), 1, 0.9 - 0.1 * static_cast<double>(cell));
            history->setState(trial, RunState::Stopped);
        }
        const auto climbers = [&] {
            const auto query = home.query();
            const QueueQuery asked(*query);
            const RungFacts facts = rungFactsOf(asked, accuracy, group);
            return climbersOf(sweep, accuracy, asked.trials(group), facts.values, facts.arrivals);
        };
        const Rungs rungs = *rungsOf(sweep);
        QCOMPARE(nextPromotion(rungs, climbers()), std::optional<std::int64_t>(0));
        queue.letGoOn({group, 0, 0}, 2, 0);
        QVERIFY(!nextPromotion(rungs, climbers()));
        const auto again = history->beginAttempt(1, 0);  // from its first step
        QVERIFY(!nextPromotion(rungs, climbers()));
        QCOMPARE(climbers()[0].losses, std::vector<double>{-0.9});
        evaluate(1, again, 1, 0.7);  // the latest counts, where it came to another
        QCOMPARE(climbers()[0].losses, std::vector<double>{-0.7});
        evaluate(1, again, 2, 0.8);
        QCOMPARE(climbers()[0].losses, (std::vector<double>{-0.7, -0.8}));
    }

    // Of a grid only as far as it goes; and what is said is true.
    void aSweepIsExtended() {
        const Home home;
        TrialService trials(home.places);
        QueueService queue(trials, "/bin/true");
        SweepSpec sweep;
        sweep.method = "grid";
        sweep.trials = 0;
        sweep.repeats = 2;
        sweep.vary = {dimensionFrom("batch=32,64,128").value(), dimensionFrom("epochs=1,2,3").value()};
        const auto whole = queue.addSweep(sweep);
        const auto problemOf = [&](std::int64_t group, std::int64_t cells) {
            try {
                queue.extendSweep(group, cells);
            } catch (const ProblemError& error) {
                return error.problem();
            }
            return Problem{};
        };
        QCOMPARE(problemOf(whole, 9), (Problem{"trials", "sweep.not-longer", {"9", "9"}}));
        QCOMPARE(problemOf(whole, 30), (Problem{"trials", "sweep.no-further-cells", {"30", "9"}}));
        sweep.trials = 4;
        const auto part = queue.addSweep(sweep);
        QCOMPARE(problemOf(part, 4), (Problem{"trials", "sweep.not-longer", {"4", "4"}}));
        QCOMPARE(problemOf(part, 30), (Problem{"trials", "sweep.too-few-cells", {"30", "9"}}));
        QCOMPARE(problemOf(part, 9), Problem{});
        QCOMPARE(queue.sweep(part).planned, std::int64_t{18});
        sweep.vary.push_back(dimensionFrom("learning_rate=log:1e-3..1").value());
        sweep.method = "random";
        QCOMPARE(problemOf(queue.addSweep(sweep), 100'000), Problem{});
        QCOMPARE(problemOf(queue.addSweep(sweep), 100'001).code, std::string("spec.out-of-range"));
    }

    void whoLooksStartsWhatWaits() {
        const Home home;
        TrialService trials(home.places);
        QueueService queue(trials, "/bin/true");
        trials.store();
        QVERIFY(!queue.hasWork() && !queue.keepGoing());
        const auto trial = queue.addTrial({}, {.held = true});
        QVERIFY(!queue.hasWork());
        queue.setHeld(trial, false);
        QVERIFY(queue.hasWork() && queue.keepGoing());
        {
            const auto keeper = QueueKeeper::claim({home.places, "/bin/true", {}});
            QVERIFY(queue.hasWork() && !queue.keepGoing());
        }
        queue.setHeld(trial, true);
        trials.store().setState(trial, RunState::Finished);
        QVERIFY(queue.hasWork());  // nobody has taken it out
        queue.cancel(trial);
        SweepSpec sweep;
        sweep.vary = {dimensionFrom("batch=32,64").value()};
        const auto group = queue.addSweep(sweep);
        QVERIFY(queue.hasWork());
        queue.pauseSweep(group);
        QVERIFY(!queue.hasWork() && !queue.keepGoing());
        queue.goOnWithSweep(group);
        QVERIFY(queue.hasWork());
        queue.cancelSweep(group);
        QVERIFY(!queue.hasWork());
    }

    // In words of the catalogue, whatever a trial failed of.
    void theFirstFailureIsAProblem() {
        const Home home;
        TrialService trials(home.places);
        QueueStore store(trials.store());
        SweepSpec sweep;
        sweep.vary = {dimensionFrom("seed=1..4").value()};
        const auto group = store.createGroup({.title = "a sweep", .specJson = sweepJson(sweep)});
        const auto failed = [&](std::int64_t repeat) {
            const auto trial = store.createTrial({}, home.places.runs(), {}, GroupPlace{group, 0, repeat});
            store.remove(trial);
            return trial;
        };
        const auto first = [&] { return sweepResult(trials.query(), group).firstFailure; };
        store.addCell(group, {0, "{\"seed\":1}"});
        const auto one = failed(2), other = failed(1), third = failed(0);
        QVERIFY(!first());
        const Problem refused{"batch", "spec.out-of-range", {"0", "1", "9"}};
        QVERIFY(trials.fail(*trials.query().find(one), refused));
        QCOMPARE(first(), std::optional(refused));
        const auto sink = trials.store().sinkFor(other, trials.store().beginAttempt(other, 0));
        sink->post(1, RunFailed{"out-of-memory", "conv1", "3 GiB wanted", 0, 7});
        QCOMPARE(first(),
                 std::optional(
                     Problem{"conv1", "run.failed.out-of-memory", {"3 GiB wanted", "Trial " + std::to_string(other)}}));
        trials.store().setState(third, RunState::Crashed);
        QCOMPARE(first(), std::optional(Problem{"trial", "queue.no-last-word", {std::to_string(third), "0", "1"}}));
        const auto last = trials.store().sinkFor(third, trials.store().beginAttempt(third, 0));
        last->post(1, RunFailed{"non-finite", "loss", "nan", 0, 7});
        QCOMPARE(first()->code, std::string("run.failed.non-finite"));
        sweep.vary = {dimensionFrom("learning_rate=0.1,0.2").value()};
        store.setGroupSpec(group, sweepJson(sweep));
        QCOMPARE(first()->code, std::string("sweep.non-finite"));
    }

    // A sweep whose constraints no cell meets, whoever wrote it.
    void aSweepWithoutCellsFails() {
        const Home home;
        TrialService trials(home.places);
        for (const char* method : {"grid", "random", "tpe"}) {
            SweepSpec sweep;
            sweep.method = method;
            sweep.vary = {dimensionFrom("batch=32,64").value()};
            sweep.constraints = {Constraint::parse("batch >= 1000", "").value()};
            const auto group = QueueStore(trials.store()).createGroup({.title = method, .specJson = sweepJson(sweep)});
            SweepGrower grower({trials, [](std::int64_t) { return false; }, {}});
            grower.grow({});
            const auto now = QueueQuery(trials.query()).group(group).value();
            QCOMPARE(now.state, GroupState::Failed);
            const auto problem = problemFrom(now.reason);
            QVERIFY(problem && problem->code.starts_with("sweep.no-cells") && problem->args[1] == "batch >= 1000");
        }
    }

    // Whoever ends a sweep has read its trials before.
    void aTrialThatHasJustBegunIsNotCancelled() {
        const Home home;
        TrialService trials(home.places);
        QueueStore store(trials.store());
        SweepSpec sweep;
        sweep.vary = {dimensionFrom("batch=32,64").value()};
        const auto group = store.createGroup({.title = "a sweep", .specJson = sweepJson(sweep)});
        store.addCell(group, {0, "{\"batch\":32}"});
        const auto begun = store.createTrial({}, home.places.runs(), {}, GroupPlace{group, 0, 0});
        const auto held = store.createTrial({}, home.places.runs(), {}, GroupPlace{group, 0, 1});
        const auto waits = store.createTrial({}, home.places.runs(), {}, GroupPlace{group, 0, 2});
        std::vector<QueuedTrial> asRead;
        for (const auto trial : {begun, held, waits}) asRead.push_back({.entry = {.trial = trial}, .group = group});
        store.setGroupState(group, GroupState::Cancelled);
        const auto own = home.store();  // of an engine
        own->setState(begun, RunState::Preparing);
        const auto lease = Lease::tryAcquire(home.places.lease(held));
        SweepGrower grower({trials, [](std::int64_t) { return false; }, {}});
        QVERIFY(grower.grow(asRead));
        QCOMPARE(trials.query().find(begun)->state, std::string("preparing"));
        QCOMPARE(trials.query().find(held)->state, std::string("queued"));
        QCOMPARE(trials.query().find(waits)->state, std::string("cancelled"));
        QCOMPARE(home.order(), (Order{begun, held}));
    }

    // Whoever ends a sweep has read it before: meanwhile it may have been extended, paused or cancelled.
    void aSweepEndsAsItWasSeen() {
        const Home home;
        const auto history = home.store(), other = home.store();
        QueueStore queue(*history), person(*other);
        const auto query = home.query();
        const auto group = queue.createGroup({.title = "a sweep", .specJson = "{}"});
        const auto seen = [&] { return QueueQuery(*query).group(group).value(); };
        const TrialGroup before = seen();
        person.setGroupSpec(group, "{\"trials\": 40}");
        QVERIFY(!queue.leaveActive(before, GroupState::Finished));
        QVERIFY(seen().state == GroupState::Active && seen().finishedAt.empty());
        QVERIFY(person.leaveActive(seen(), GroupState::Paused));
        QVERIFY(!queue.leaveActive(seen(), GroupState::Finished) && seen().state == GroupState::Paused);
        QVERIFY(seen().finishedAt.empty());
        person.setGroupState(group, GroupState::Active);
        QVERIFY(queue.leaveActive(seen(), GroupState::Failed, "why"));
        QVERIFY(seen().state == GroupState::Failed && seen().reason == "why" && !seen().finishedAt.empty());
        QVERIFY(!person.leaveActive(seen(), GroupState::Paused));
    }

    void whoFollowsReadsWhatIsNew() {
        const Home home;
        TrialService trials(home.places);
        QueueService queue(trials, "/bin/true");
        queue.addTrial({}, {.held = true});
        const auto before = queue.dataVersion();
        QCOMPARE(queue.dataVersion(), before);
        queue.addTrial({}, {.held = true});
        QVERIFY(queue.dataVersion() != before);
    }

    void timeLeftCountsWhatRuns() {
        SweepResult result;
        result.planned = 4, result.ended = 1, result.running = 1;
        result.secondsEach = 100;
        QCOMPARE(*result.secondsLeft(), 300.0);
        result.underWay = 0.75;
        QCOMPARE(*result.secondsLeft(), 225.0);
        result.ended = 4;
        QVERIFY(!result.secondsLeft());
    }

    void theLogStaysSmall() {
        const Home home;
        TrialService trials(home.places);
        QueueService queue(trials, "/bin/true");
        const fs::path log = home.places.data / "queue.log", before = log.string() + ".1";
        std::ofstream(log) << "a line";
        queue.startKeeper();
        QVERIFY(fs::file_size(log) == 6 && !fs::exists(before));
        std::ofstream(log) << std::string((1 << 20) + 1, 'x');
        queue.startKeeper();
        QVERIFY(fs::file_size(before) > 1 << 20);
        QVERIFY(!fs::exists(log) || fs::file_size(log) == 0);
    }

    void whoWaitsForWhom() {
        const Home home;
        TrialService trials(home.places);
        QueueService queue(trials, "/bin/true");
        const auto one = queue.addTrial({}, {.held = true}), other = queue.addTrial({}, {.held = true});
        queue.setAfter(one, other);
        QCOMPARE(codeOf([&] { queue.setAfter(other, one); }), std::string("queue.circle"));
        QCOMPARE(codeOf([&] { queue.setAfter(one, one); }), std::string("queue.circle"));
        QCOMPARE(codeOf([&] { queue.setAfter(one, 99); }), std::string("trial.unknown"));
        queue.setHeld(one, false);
        const auto lines = queue.list();
        QVERIFY(lines[0].reason == WaitReason::AfterOther && lines[1].reason == WaitReason::Held);
        queue.cancel(other);
        QCOMPARE(queue.list().size(), std::size_t{1});
        QVERIFY(queue.list()[0].reason == WaitReason::None);
        QCOMPARE(trials.row(other).state, std::string("cancelled"));
        trials.store().setState(other, RunState::Finished);
        QCOMPARE(codeOf([&] { queue.add(other); }), std::string("queue.finished"));
    }
};

QTEST_GUILESS_MAIN(TestQueueStore)
#include "tst_queue_store.moc"
