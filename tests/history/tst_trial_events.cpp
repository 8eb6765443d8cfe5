#include <rapidcheck.h>

#include <QtTest>
#include <cmath>
#include <limits>

#include "tests/history/history_support.h"

using namespace lockstep;
using namespace lockstep::test;

class tst_TrialEvents : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { qputenv("RC_PARAMS", "max_success=40 max_size=60"); }  // each state event is an fsync
    void eventsComeBackAsTheyWere();
    void eventsComeBackForEveryMixture();
    void stateEventsAreCommittedOnReturn();
    void manyStepsMakeFewChunks();
    void eventsShapeTheTrialsRow();
    void aFailureIsKept();
    void aProblemIsKeptWhole();
    void whatAnAttemptSaidOfItself();
    void resumeCutsTheSeriesBack();
    void eventsOfAPurgedTrialDoNotStopTheOthers();
    void missingAndNonFiniteNumbersSurvive();
    void theLastTextThatStandsIsFound();
};

namespace {

std::vector<std::string> linesOf(const std::vector<NumberedEvent>& events) {
    std::vector<std::string> lines;
    for (const auto& each : events) lines.push_back(toJsonLine(each.event, each.number));
    return lines;
}

}  // namespace

void tst_TrialEvents::eventsComeBackAsTheyWere() {
    const Folder folder;
    std::vector<std::string> posted;
    std::int64_t trial = 0;
    {
        const auto store = openStore(folder.file());
        FirstAttempt attempt(*store);
        trial = attempt.trial;
        std::int64_t number = 0;
        const auto post = [&](const TrainEvent& event) {
            posted.push_back(toJsonLine(event, ++number));
            attempt.sink->post(number, event);
        };
        RunStarted started;
        started.trial = trial;
        started.deviceText = "cpu:2";
        started.devices = {"cpu:0", "cpu:1"};
        post(started);
        post(StateChanged{"running", 0});
        for (int step = 1; step <= 1300; ++step) {
            post(stepOf(step));
            if (step % 100 == 0) post(evalOf(step, 0.5 + step / 10'000.0));
        }
        post(CheckpointWritten{1300, 13, "last.safetensors", "last"});
        post(Message{"warning", {"batch", "some.code", {"1", "ü \" \\"}}});
        post(RunFinished{"finished", trial, 1300, 13, 0.9, 0.3, 0.91, 1000, 13});
    }
    const auto query = openQuery(folder.file());
    QVERIFY(linesOf(query->events(trial, 1)) == posted);
    QCOMPARE(query->lastEvent(trial), static_cast<std::int64_t>(posted.size()));
    for (const std::int64_t first : {2, 3, 50, 513, 1000, 1318}) {
        const std::vector<std::string> expected(posted.begin() + (first - 1), posted.end());
        QVERIFY(linesOf(query->events(trial, first)) == expected);
    }
    QVERIFY(query->events(trial, static_cast<std::int64_t>(posted.size()) + 1).empty());
}

// Whatever the order of step and state events, the flushes between them and the number of ranks.
void tst_TrialEvents::eventsComeBackForEveryMixture() {
    const Folder folder;
    const auto store = openStore(folder.file());
    const auto query = openQuery(folder.file());
    const bool held = rc::check([&](const std::vector<std::uint8_t>& choices) {
        FirstAttempt attempt(*store);
        std::vector<std::string> posted;
        std::int64_t number = 0;
        for (const std::uint8_t choice : choices) {
            if (choice % 8 == 0) store->flush();
            const TrainEvent event = choice % 5 == 0 ? TrainEvent(evalOf(number, 0.5))
                                                     : TrainEvent(stepOf(number + 1, choice % 16 < 12 ? 2 : 3));
            posted.push_back(toJsonLine(event, ++number));
            attempt.sink->post(number, event);
        }
        store->flush();
        RC_ASSERT(store->committedEvent(attempt.trial) == number);
        RC_ASSERT(linesOf(query->events(attempt.trial, 1)) == posted);
    });
    QVERIFY(held);
}

void tst_TrialEvents::stateEventsAreCommittedOnReturn() {
    const Folder folder;
    const auto store = openStore(folder.file());
    FirstAttempt attempt(*store);
    attempt.sink->post(1, stepOf(1));
    attempt.sink->post(2, StateChanged{"paused", 1});
    QCOMPARE(store->committedEvent(attempt.trial), std::int64_t{2});
    const auto query = openQuery(folder.file());
    QCOMPARE(query->events(attempt.trial, 1).size(), std::size_t{2});
    QCOMPARE(query->find(attempt.trial)->state, std::string("paused"));
}

void tst_TrialEvents::manyStepsMakeFewChunks() {
    const Folder folder;
    const auto store = openStore(folder.file());
    FirstAttempt attempt(*store);
    for (int step = 1; step <= 5000; ++step) {
        attempt.sink->post(step, stepOf(step));
        if (step % 37 == 0) store->flush();  // commits far more often than chunks fill up
    }
    store->flush();
    QCOMPARE(ask(folder.file(), "SELECT count(*) FROM series_chunk"), std::to_string((5000 + 511) / 512));
    const auto series = openQuery(folder.file())->series(attempt.trial, "loss");
    QCOMPARE(series.size(), std::size_t{5000});
    for (std::size_t i = 0; i < series.size(); ++i) {
        const auto expected = stepOf(static_cast<std::int64_t>(i) + 1);
        QVERIFY(series[i].step == expected.step && series[i].value == expected.loss &&
                series[i].seconds == expected.seconds);
    }
}

void tst_TrialEvents::eventsShapeTheTrialsRow() {
    const Folder folder;
    const auto store = openStore(folder.file());
    FirstAttempt attempt(*store);
    const auto query = openQuery(folder.file());
    attempt.sink->post(1, stepOf(250));
    attempt.sink->post(2, evalOf(250, 0.8, 0.2));
    attempt.sink->post(3, evalOf(300, 0.7, 0.3));
    auto row = *query->find(attempt.trial);
    QCOMPARE(row.step, std::int64_t{300});
    QCOMPARE(*row.bestAccuracy, 0.8);
    QCOMPARE(*row.testAccuracy, 0.7);
    QCOMPARE(*row.lowestTestLoss, 0.2);
    QCOMPARE(*row.testLoss, 0.3);
    attempt.sink->post(4, RunFinished{"stopped", attempt.trial, 310, 4, 0.75, 0.4, 0.8, 999, 3.5});
    row = *query->find(attempt.trial);
    QCOMPARE(row.state, std::string("stopped"));
    QVERIFY(!row.finishedAt.empty());
    QCOMPARE(*row.samplesPerSecond, 999.0);
    QCOMPARE(*row.testAccuracy, 0.75);
    QCOMPARE(query->series(attempt.trial, "test_accuracy").size(), std::size_t{2});
    const auto metrics = query->metrics(attempt.trial);
    for (const char* name : {"loss", "compute.0", "wait.1", "test_accuracy", "test_loss"}) {
        QVERIFY2(std::find(metrics.begin(), metrics.end(), name) != metrics.end(), name);
    }
    QVERIFY(std::find(metrics.begin(), metrics.end(), "test_accuracy5") == metrics.end());
}

void tst_TrialEvents::aFailureIsKept() {
    const Folder folder;
    const auto store = openStore(folder.file());
    FirstAttempt attempt(*store);
    attempt.sink->post(1, RunFailed{"out-of-memory", "conv2d block3/conv1 on cpu:1", "no 3 GiB", 1, 17});
    const auto row = *openQuery(folder.file())->find(attempt.trial);
    QCOMPARE(row.state, std::string("failed"));
    QCOMPARE(row.failure, std::string("out-of-memory in conv2d block3/conv1 on cpu:1 (rank 1): no 3 GiB"));
    QCOMPARE(openQuery(folder.file())->failure(attempt.trial)->step, std::int64_t{17});
}

void tst_TrialEvents::aProblemIsKeptWhole() {
    const Folder folder;
    const auto store = openStore(folder.file());
    FirstAttempt attempt(*store);
    const Problem problem{"batch", "spec.batch-too-large", {"512", "mine, and yours", "100"}};
    attempt.sink->post(1, failureFrom(problem));
    const auto query = openQuery(folder.file());
    QVERIFY(problemIn(*query->failure(attempt.trial)) == problem);
    QVERIFY(!query->failure(attempt.trial + 1));
    store->beginAttempt(attempt.trial, 0);
    QVERIFY(!query->failure(attempt.trial));
}

// Of the latest attempt, the last world of it.
void tst_TrialEvents::whatAnAttemptSaidOfItself() {
    const Folder folder;
    const auto store = openStore(folder.file());
    FirstAttempt attempt(*store);
    const auto query = openQuery(folder.file());
    QVERIFY(!query->started(attempt.trial));
    RunStarted started;
    for (const std::int64_t samples : {100, 200}) {
        started.trainSamples = samples;
        attempt.sink->post(samples, started);
    }
    QCOMPARE(query->started(attempt.trial)->trainSamples, std::int64_t{200});
    QVERIFY(!query->started(attempt.trial + 1));
    store->beginAttempt(attempt.trial, 0);
    QVERIFY(!query->started(attempt.trial));
}

void tst_TrialEvents::resumeCutsTheSeriesBack() {
    const Folder folder;
    const auto store = openStore(folder.file());
    FirstAttempt first(*store);
    std::int64_t number = 0;
    for (int step = 1; step <= 1000; ++step) {
        first.sink->post(++number, stepOf(step));
        if (step % 200 == 0) first.sink->post(++number, evalOf(step, step / 1000.0, 1 - step / 1000.0));
    }
    first.sink->post(++number, RunFailed{"io", "", "", -1, 1000});
    QCOMPARE(store->beginAttempt(first.trial, 650), std::int64_t{2});
    const auto query = openQuery(folder.file());
    QCOMPARE(query->series(first.trial, "accuracy").size(), std::size_t{650});
    QCOMPARE(query->series(first.trial, "accuracy").back().step, std::int64_t{650});
    QCOMPARE(query->series(first.trial, "test_accuracy").size(), std::size_t{3});
    auto row = *query->find(first.trial);
    QCOMPARE(row.attempts, std::int64_t{2});
    QCOMPARE(row.step, std::int64_t{650});
    QCOMPARE(*row.bestAccuracy, 0.6);
    QCOMPARE(*row.lowestTestLoss, 0.4);
    QVERIFY(row.failure.empty() && row.finishedAt.empty());
    QVERIFY(query->events(first.trial, 1).empty());  // the new attempt has said nothing yet
    QCOMPARE(query->lastEvent(first.trial), number);

    const auto second = store->sinkFor(first.trial, 2);
    for (int step = 651; step <= 800; ++step) second->post(++number, stepOf(step));
    second->post(++number, evalOf(800, 0.7, 0.3));
    const auto series = query->series(first.trial, "loss");
    QCOMPARE(series.size(), std::size_t{800});
    for (std::size_t i = 0; i < series.size(); ++i) QCOMPARE(series[i].step, static_cast<std::int64_t>(i) + 1);
    QCOMPARE(query->series(first.trial, "test_accuracy").size(), std::size_t{4});
    QCOMPARE(query->events(first.trial, 1).size(), std::size_t{151});
    QCOMPARE(store->beginAttempt(first.trial, 850), std::int64_t{3});
    QCOMPARE(*query->find(first.trial)->bestAccuracy, 0.7);  // not the 0.8 that the second attempt took back
    QCOMPARE(*query->find(first.trial)->lowestTestLoss, 0.3);
    QCOMPARE(store->beginAttempt(first.trial, 0), std::int64_t{4});
    QVERIFY(query->series(first.trial, "loss").empty());
}

void tst_TrialEvents::eventsOfAPurgedTrialDoNotStopTheOthers() {
    const Folder folder;
    const auto store = openStore(folder.file());
    std::vector<std::string> troubles;
    store->onTrouble([&](const Problem& problem) { troubles.push_back(problem.code); });
    FirstAttempt gone(*store), stays(*store);
    gone.sink->post(1, stepOf(1));
    store->flush();
    store->deleteTrial(gone.trial, true);
    for (int step = 2; step <= 20; ++step) {
        gone.sink->post(step, stepOf(step));
        stays.sink->post(step - 1, stepOf(step - 1));
    }
    gone.sink->post(21, StateChanged{"running", 20});
    stays.sink->post(20, StateChanged{"running", 19});
    QCOMPARE(openQuery(folder.file())->events(stays.trial, 1).size(), std::size_t{20});
    QVERIFY(troubles == std::vector<std::string>{"history.refused"});
}

void tst_TrialEvents::missingAndNonFiniteNumbersSurvive() {
    const Folder folder;
    const auto store = openStore(folder.file());
    FirstAttempt attempt(*store);
    StepDone step = stepOf(1, 0);
    step.loss = std::numeric_limits<double>::quiet_NaN();
    step.gradientNorm = std::numeric_limits<double>::infinity();
    step.samplesPerSecond = step.loss;
    attempt.sink->post(1, step);
    EvalDone evaluation = evalOf(1, 0.25);
    evaluation.loss = step.loss;
    attempt.sink->post(2, evaluation);
    const auto query = openQuery(folder.file());
    const auto events = query->events(attempt.trial, 1);
    QCOMPARE(events.size(), std::size_t{2});
    const auto& back = std::get<StepDone>(events[0].event);
    QVERIFY(std::isnan(back.loss) && std::isinf(back.gradientNorm) && back.compute.empty());
    const auto row = *query->find(attempt.trial);
    QVERIFY(!row.testLoss.has_value() && !row.samplesPerSecond.has_value());
    QCOMPARE(*row.bestAccuracy, 0.25);
}

void tst_TrialEvents::theLastTextThatStandsIsFound() {
    const Folder folder;
    const auto store = openStore(folder.file());
    FirstAttempt attempt(*store);
    const auto query = openQuery(folder.file());
    const auto text = [&] { return query->text(attempt.trial); };
    QVERIFY(!text() && !query->text(42));
    const TextSample first{100, 1, "To be", " or\n\uFFFD"}, second{200, 2, "To be", " not"}, third{200, 2, "To be", ""};
    attempt.sink->post(1, first);
    QVERIFY(text() == first);
    attempt.sink->post(2, second);
    QVERIFY(text() == second);
    const auto resumed = store->sinkFor(attempt.trial, store->beginAttempt(attempt.trial, 150));
    QVERIFY(text() == first);  // the second was taken back
    resumed->post(3, third);
    QVERIFY(text() == third);
    store->beginAttempt(attempt.trial, 200);
    QVERIFY(text() == third);
}

QTEST_APPLESS_MAIN(tst_TrialEvents)
#include "tst_trial_events.moc"
