#include <QTemporaryDir>
#include <QtTest>

#include "engine/queue/queue_service.h"
#include "engine/queue/sweep_grower.h"
#include "engine/queue/sweep_progress.h"

using namespace lockstep;

namespace {

Places placesIn(const QTemporaryDir& folder) {
    const std::filesystem::path base = folder.path().toStdString();
    return {base, base / "cache", base / "sockets", base / "config"};
}

// A sweep of three seeds, and what a person trains besides.
class Bench {
public:
    Bench() {
        if (!preparePlaces(places).ok()) qFatal("no home");
        sweep.method = "grid";
        sweep.trials = 0;
        sweep.parallel = 4;
        sweep.vary = {dimensionFrom("seed=1,2,3").value()};
    }

    std::int64_t begin() { return group = store().createGroup({.title = "a sweep", .specJson = sweepJson(sweep)}); }
    QueueStore store() { return QueueStore(trials.store()); }
    TrialSpec spec(std::uint64_t seed) const {
        TrialSpec spec = sweep.trial;
        spec.title = "by hand";
        spec.seed = seed;
        return spec;
    }
    std::int64_t queued(std::uint64_t seed, bool held = false) {
        return store().createTrial(spec(seed), places.runs(), {.held = held}, {});
    }
    std::int64_t running(std::uint64_t seed) {
        const auto trial = trials.create(spec(seed));
        trials.store().setState(trial, RunState::Running);
        taken.insert(trial);
        return trial;
    }
    void end(std::int64_t trial, RunState state) {
        trials.store().setState(trial, state);
        store().remove(trial);
        taken.erase(trial);
    }

    void grow() {
        std::vector<QueuedTrial> queue;
        for (const QueueEntry& each : QueueQuery(trials.query()).entries()) {
            queue.push_back({.entry = each});
            if (each.place) queue.back().group = each.place->group;
        }
        const auto isTaken = [this](std::int64_t trial) { return taken.contains(trial); };
        SweepGrower({trials, isTaken, [this](const std::string& line) { said += line + '\n'; }}).grow(queue);
    }
    std::vector<GroupTrial> members() { return QueueQuery(trials.query()).trials(group); }
    GroupState state() { return QueueQuery(trials.query()).group(group)->state; }
    bool says(const std::string& words) const { return said.find(words) != std::string::npos; }

    QTemporaryDir folder;
    Places places = placesIn(folder);
    TrialService trials{places};
    SweepSpec sweep;
    std::int64_t group = 0;
    std::set<std::int64_t> taken;  // by engines
    std::string said;
};

}  // namespace

// Trials that a sweep finds in the history in place of its own.
class TestAdoptedTrials : public QObject {
    Q_OBJECT
private slots:
    // The sweep waits for them, though nothing more of its own is to come.
    void whatRunsOrWaitsIsAdopted() {
        Bench bench;
        const auto runs = bench.running(1), waits = bench.queued(2);
        bench.begin();
        bench.grow();
        const auto members = bench.members();
        QCOMPARE(members.size(), std::size_t{3});
        QVERIFY(members[0].adopted && members[0].trial == runs);
        QVERIFY(members[1].adopted && members[1].trial == waits);
        QVERIFY(!members[2].adopted);
        const auto entries = QueueQuery(bench.trials.query()).entries();
        QVERIFY(entries[0].trial == waits && !entries[0].place);  // a person's, as before

        bench.end(*members[2].trial, RunState::Finished);
        bench.grow();
        QCOMPARE(bench.state(), GroupState::Active);
        const SweepResult now = sweepResult(bench.trials.query(), bench.group);
        QVERIFY(now.running == 1 && now.waiting() == 1 && now.open == 2 && now.adopted == 2 && now.ended == 1);
        bench.end(runs, RunState::Finished), bench.end(waits, RunState::Finished);
        bench.grow();
        QCOMPARE(bench.state(), GroupState::Finished);
        QCOMPARE(bench.trials.query().list({}).size(), std::size_t{3});
    }

    void whatDoesNotFinishIsGivenBack() {
        Bench bench;
        const auto runs = bench.running(1), waits = bench.queued(2), lost = bench.running(3);
        bench.begin();
        bench.grow();
        QCOMPARE(bench.trials.query().list({}).size(), std::size_t{3});
        bench.end(runs, RunState::Failed), bench.end(waits, RunState::Cancelled);
        bench.taken.erase(lost);  // killed without a word
        bench.grow();
        const auto members = bench.members();
        QCOMPARE(members.size(), std::size_t{3});
        for (const GroupTrial& each : members) QVERIFY(!each.adopted && each.isQueued && *each.trial > lost);
        QVERIFY(bench.says("trial " + std::to_string(runs) + " did not finish: sweep 1 trains its cell itself"));
        QCOMPARE(bench.state(), GroupState::Active);
    }

    void whatIsNotAdoptedIsNamedWithItsReason() {
        Bench bench;
        const auto held = bench.queued(1, true);
        bench.begin();
        bench.grow();
        QVERIFY(bench.says("trial " + std::to_string(held) + " trains the same and is not adopted: it is held"));
        const auto first = bench.members();
        bench.said.clear();
        bench.begin();
        bench.grow();
        for (const GroupTrial& each : bench.members()) QVERIFY(!each.adopted);
        QVERIFY(bench.says("trial " + std::to_string(*first[1].trial) +
                           " trains the same and is not adopted: sweep 1, which is not over, has it"));
        Bench climbs;
        const auto runs = climbs.running(1);
        climbs.sweep.trial.epochs = 9;
        climbs.sweep.scheduler = "asha";
        climbs.trials.store().setSpec(runs, climbs.spec(1));
        climbs.begin();
        climbs.grow();
        QVERIFY(!climbs.members()[0].adopted && climbs.says("cells of this sweep pause at rungs"));
    }

    void whatBecomesOfTheSweepDoesNothingToThem() {
        Bench bench;
        const auto waits = bench.queued(2);
        bench.begin();
        bench.grow();
        QueueService queue(bench.trials, "/bin/true");
        queue.pauseSweep(bench.group);
        QCOMPARE(queue.list()[0].reason, WaitReason::None);
        queue.cancelSweep(bench.group);
        bench.grow();
        const auto left = QueueQuery(bench.trials.query()).entries();
        QVERIFY(left.size() == 1 && left[0].trial == waits);
        QCOMPARE(bench.trials.query().find(waits)->state, std::string("queued"));
        bench.end(waits, RunState::Cancelled);
        QCOMPARE(queue.retrySweep(bench.group), std::int64_t{3});
        QVERIFY(QueueQuery(bench.trials.query()).entries().size() == 2);  // its own two; the third is made anew
    }

    // A person may pause one: it does not run, and is no trial that waits for its turn.
    void aPausedTrialDoesNotCountAsRunning() {
        Bench bench;
        bench.begin();
        bench.grow();
        const auto members = bench.members();
        bench.trials.store().setState(*members[0].trial, RunState::Paused);
        bench.trials.store().setState(*members[1].trial, RunState::Running);
        const SweepResult now = sweepResult(bench.trials.query(), bench.group);
        QVERIFY(now.running == 1 && now.halted == 1 && now.waiting() == 1 && now.open == 3);
    }
};

QTEST_APPLESS_MAIN(TestAdoptedTrials)
#include "tst_adopted_trials.moc"
