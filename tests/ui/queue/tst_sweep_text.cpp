#include <QtTest>

#include "ui/queue/queue_text.h"
#include "ui/queue/sweep_text.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

CellResult cell(std::int64_t finished, double mean, double deviation = 0) {
    CellResult made;
    made.settings = {{"learning_rate", 0.01}, {"batch", std::int64_t{64}}};
    made.finished = made.count = finished;
    for (std::int64_t i = 0; i < finished; ++i) made.trials.push_back(i + 1);
    made.bestTrial = 2;
    made.mean = mean;
    made.deviation = deviation;
    return made;
}

// Twelve of twenty trials have ended, two of them in vain; two run.
SweepRow sweep(GroupState state = GroupState::Active) {
    SweepRow made;
    SweepResult& result = made.result;
    result.group.id = 3;
    result.group.title = "how\nwide";
    result.group.state = state;
    result.objective = findMetric("test_accuracy");
    result.planned = 20;
    result.ended = 12, result.finished = 10, result.failed = 2, result.running = 2, result.open = 3;
    result.secondsEach = 60;
    result.spec.parallel = 2;
    result.cells = {cell(3, 0.91234, 0.00412)};
    result.best = 0;
    made.bytesOfTrial = 64 << 20;
    return made;
}

QueueRow row(RunState state, bool isRunning) {
    QueueRow made;
    made.line.row.state = std::string(text(state));
    made.line.row.epoch = 3, made.line.row.epochs = 10;
    made.line.row.step = 250;
    made.line.isRunning = isRunning;
    return made;
}

}  // namespace

// What is said of sweeps and of trials in the queue.
class TestSweepText : public QObject {
    Q_OBJECT
private slots:
    void aSweepIsToldInWords() {
        const SweepRow made = sweep();
        QCOMPARE(sweep_text::title(made), QString("Sweep 3: how wide"));
        QCOMPARE(sweep_text::progress(made), QString("10 of 20 trials finished, 2 running, 2 failed"));
        QCOMPARE(sweep_text::left(made), QString("about 4 min 00 s left"));  // 8 more, 2 at once
        QCOMPARE(sweep_text::best(made), QString("Best test accuracy 91.23 % ± 0.41 (n 3)"));
        QCOMPARE(sweep_text::bestCell(made), QString("learning_rate=0.01 batch=64"));
        QCOMPARE(sweep_text::disk(made), QString("takes about 1.2 GiB of disk in all"));
        QCOMPARE(sweep_text::bestTrial(made), std::int64_t{2});
        SweepRow further = made;
        further.result.underWay = 1.5;
        QCOMPARE(sweep_text::left(further), QString("about 3 min 15 s left"));
        further.result.failed = 0, further.result.cancelled = 3, further.result.removed = 1;
        QCOMPARE(sweep_text::progress(further), QString("10 of 20 trials finished, 2 running, 3 cancelled, 1 deleted"));
        SweepRow paused = sweep(GroupState::Paused);
        QVERIFY(sweep_text::left(paused).isEmpty() && !sweep_text::disk(paused).isEmpty());
        QVERIFY(sweep_text::disk(sweep(GroupState::Finished)).isEmpty());
    }

    void rungsAreColumns() {
        SweepRow made = sweep();
        made.result.spec.scheduler = "asha";
        made.result.spec.trial.epochs = 9;
        made.result.climbers = {{.cell = 0}};
        QVERIFY(sweep_text::rungs(made).empty());  // none has come to one
        const auto came = [&](std::int64_t cell, std::vector<double> losses, std::size_t goal) {
            const std::vector<std::int64_t> arrivals(losses.size(), cell);
            made.result.climbers.push_back({cell, std::move(losses), arrivals, goal});
        };
        came(1, {3, 3}, 1), came(2, {2, 1}, 1), came(3, {1, 2, 2}, 2), came(4, {4}, 0);
        const auto rungs = sweep_text::rungs(made);
        QCOMPARE(rungs.size(), 3u);
        QCOMPARE(rungs[0].title, QString("1 epoch"));
        QCOMPARE(rungs[0].words,
                 QString("Rung 1 of 3, 1 epoch: 4 cells have come there, 3 went on, foretells the next +0.50"));
        QCOMPARE(rungs[1].words, QString("Rung 2 of 3, 3 epochs: 3 cells have come there, 1 went on"));
        QCOMPARE(rungs[2].words, QString("Rung 3 of 3, 9 epochs: 1 cell has come there"));
        QVERIFY(rungs[2].isTop && !rungs[1].isTop);
        made.result.spec.scheduler.clear();
        QVERIFY(sweep_text::rungs(made).empty());
    }

    // While no cell is trained to its end.
    void theBestAtTheHighestRungIsNamed() {
        SweepRow made = sweep();
        SweepResult& result = made.result;
        result.spec.scheduler = "asha";
        result.spec.trial.epochs = 9;
        result.best.reset();
        result.bestAtRung = 0;
        result.cells = {cell(0, 0)};
        result.cells[0].trials = {4};
        result.climbers = {{.cell = 0, .losses = {-0.8, -0.9}, .arrivals = {0, 1}, .goal = 1}};
        QCOMPARE(sweep_text::best(made),
                 QString("Best test accuracy at rung 2: 90.00 % at epoch 3; none is trained to its end yet"));
        QCOMPARE(sweep_text::bestCell(made), QString("learning_rate=0.01 batch=64"));
        QCOMPARE(sweep_text::bestTrial(made), std::int64_t{4});
        result.cells[0].trials = {4, 5};
        QCOMPARE(sweep_text::bestTrial(made), std::int64_t{0});
        result.group.state = GroupState::Finished;
        QVERIFY(sweep_text::best(made).endsWith("at epoch 3; none was trained to its end"));
    }

    void whatPausesDoesNotRun() {
        SweepRow made = sweep();
        made.result.running = 1, made.result.halted = 1, made.result.paused = 2;
        QCOMPARE(sweep_text::progress(made),
                 QString("10 of 20 trials finished, 1 running, 2 failed, 1 paused, 2 paused at a rung"));
        made.result.group.state = GroupState::Cancelled;
        QVERIFY(sweep_text::progress(made).endsWith("1 paused, 2 stopped at a rung"));
        QueueSnapshot queue;
        queue.rows = {row(RunState::Running, true), row(RunState::Paused, true)};
        QCOMPARE(queueCountText(queue), QString("1 running, 1 paused"));
    }

    void whatIsNotKnownIsNotSaid() {
        SweepRow made;
        made.result.group.id = 4;
        QCOMPARE(sweep_text::title(made), QString("Sweep 4"));
        QCOMPARE(sweep_text::progress(made), QString("0 trials finished"));
        made.result.planned = 1;
        QCOMPARE(sweep_text::progress(made), QString("0 of 1 trial finished"));
        made.result.planned = 0;
        for (const QString& each : {sweep_text::left(made), sweep_text::best(made), sweep_text::bestCell(made),
                                    sweep_text::disk(made), sweep_text::diskWarning(made, 1)})
            QVERIFY2(each.isEmpty(), qPrintable(each));
        made.isReadable = false;
        QVERIFY(sweep_text::progress(made).isEmpty());
        SweepRow once = sweep();
        once.result.cells = {cell(1, 0.5)};
        QCOMPARE(sweep_text::best(once), QString("Best test accuracy 50.00 %"));
        once.result.objective = findMetric("test_loss");
        QCOMPARE(sweep_text::best(once), QString("Best test loss 0.5000"));
    }

    void aFullDiskIsSeenBefore() {
        const SweepRow made = sweep();  // eight more of 64 MiB
        QVERIFY(!sweep_text::exceedsDisk(made, 0) && !sweep_text::exceedsDisk(made, 512 << 20));
        QVERIFY(sweep_text::exceedsDisk(made, (512 << 20) - 1));
        QVERIFY(sweep_text::diskWarning(made, 100 << 20).contains("512"));
        QVERIFY(sweep_text::diskWarning(sweep(GroupState::Cancelled), 1).isEmpty());
    }

    void actionsFollowTheState() {
        const auto of = [](GroupState state) { return actionsFor(sweep(state)); };
        QVERIFY(of(GroupState::Active).pause && of(GroupState::Active).cancel && !of(GroupState::Active).goOn);
        QVERIFY(of(GroupState::Paused).goOn && of(GroupState::Paused).cancel && !of(GroupState::Paused).pause);
        QVERIFY(of(GroupState::Failed).goOn && of(GroupState::Failed).cancel);
        QVERIFY(of(GroupState::Cancelled).goOn && !of(GroupState::Cancelled).cancel);
        const auto finished = of(GroupState::Finished);
        QVERIFY(!finished.goOn && !finished.cancel && !finished.pause && finished.extend);
        SweepRow made = sweep();
        QVERIFY(actionsFor(made).retry);
        made.result.failed = 0;
        QVERIFY(!actionsFor(made).retry);
        for (const auto fallen : {&SweepResult::failed, &SweepResult::cancelled, &SweepResult::removed}) {
            made.result.*fallen = 1;
            QVERIFY(actionsFor(made).retry);
            made.result.*fallen = 0;
        }
        made.result.spec.method = "grid";
        made.result.spec.trials = 0;
        QVERIFY(!actionsFor(made).extend);  // all cells that there are
        made.isReadable = false;
        QVERIFY(!actionsFor(made).retry && actionsFor(made).cancel);
    }

    void statesSayWhy() {
        QCOMPARE(queueStateText(row(RunState::Running, true)), QString("running, epoch 3 of 10"));
        QueueRow starting = row(RunState::Queued, true);
        QCOMPARE(queueStateText(starting), QString("starting"));
        QCOMPARE(queueStateText(row(RunState::Crashed, false)), QString("waits for another try"));
        QCOMPARE(queueStateText(row(RunState::Stopped, false)), QString("waits to go on"));
        QueueRow waits = row(RunState::Queued, false);
        waits.line.row.step = 0;
        QCOMPARE(queueStateText(waits), QString("waits for its turn"));
        waits.line.reason = WaitReason::Held;
        QCOMPARE(queueStateText(waits), QString("held"));
        waits.line.reason = WaitReason::GroupPaused;
        QCOMPARE(queueStateText(waits), QString("its sweep is paused"));
        waits.line.reason = WaitReason::AfterOther;
        waits.line.entry.after = 7;
        QCOMPARE(queueStateText(waits), QString("after trial 7"));
    }

    void sharesAreOfStepsOrEpochs() {
        QueueRow made = row(RunState::Running, true);
        QCOMPARE(*shareDone(made), 0.2);  // two of ten epochs are over
        made.steps = 1000;
        QCOMPARE(*shareDone(made), 0.25);
        made.steps = 100;
        QCOMPARE(*shareDone(made), 1.0);
        QVERIFY(!shareDone(row(RunState::Queued, false)));
    }

    void nobodyStartsWhatWaits() {
        QueueSnapshot queue;
        QVERIFY(!isStalled(queue));
        queue.rows = {row(RunState::Running, true), row(RunState::Queued, false)};
        QVERIFY(isStalled(queue));
        QCOMPARE(queueCountText(queue), QString("1 running, 1 waiting"));
        queue.isKept = true;
        QVERIFY(!isStalled(queue));
        queue.isKept = false;
        queue.rows[1].line.reason = WaitReason::Held;
        QVERIFY(!isStalled(queue));
        QCOMPARE(queueCountText(queue), QString("1 running, 1 held"));
        queue.sweeps = {sweep()};
        QVERIFY(isStalled(queue));
        queue.sweeps = {sweep(GroupState::Paused)};
        QVERIFY(!isStalled(queue));
    }

    void anEmptyQueueSaysHowToFillIt() {
        QVERIFY(emptyQueue(nullptr, {})->title.startsWith("Reading"));
        const QueueSnapshot nothing;
        const auto empty = emptyQueue(&nothing, {});
        QVERIFY(empty->text.contains("lockstep sweep") && empty->text.contains("lockstep train --queue"));
        QCOMPARE(empty->ways.front().command, QString("page.train"));
        QCOMPARE(emptyQueue(&nothing, Explanation{"broken", "mend it"})->text, QString("broken\n\nmend it"));
        QueueSnapshot some;
        some.sweeps = {sweep(GroupState::Finished)};
        QVERIFY(!emptyQueue(&some, {}));
    }
};

QTEST_APPLESS_MAIN(TestSweepText)
#include "tst_sweep_text.moc"
