#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <fstream>
#include <future>
#include <set>
#include <thread>

#include "engine/session/adopt_runs.h"
#include "engine/session/local_socket.h"
#include "engine/session/session_client.h"
#include "engine/session/trace_file.h"
#include "engine/trials/control.h"
#include "engine/trials/judged_state.h"
#include "tests/session/session_fixture.h"

using namespace lockstep;
using namespace lockstep::test;
using namespace std::chrono_literals;

class tst_RunSession : public QObject {
    Q_OBJECT
private slots:
    void aKilledRunIsSettledAndResumed();
    void aRunLeavesEverythingInItsPlace();
    void readingTheDataIsToldAndStopped();
    void aClientStopsARunAndResumeFinishesIt();
    void aRefusedTrialTellsWhyInItsRow();
    void onlyAQueuedTrialBegins();
    void aTrialThatIsStoppedBeforeItBeginsIsCancelled();
    void aPlaceThatCannotBeIsSaid();
    void aFailureEndsTheRow();
    void aLostDeviceIsAnAttemptFurther();
    void devicesChangeOnRequest();
    void anEngineThatComesLateIsRefused();
    void socketsOfKilledRunsAreRemoved();
};

namespace {

namespace fs = std::filesystem;

// Connects as soon as the run listens.
std::unique_ptr<SessionClient> attach(const fs::path& socket) {
    for (int i = 0; i < 1000; ++i) {
        auto client = SessionClient::connect(socket);
        if (client.ok()) return std::move(client).value();
        std::this_thread::sleep_for(10ms);
    }
    return nullptr;
}

bool waitForEvent(SessionClient& client, const std::string& name) {
    for (;;) {
        const auto line = client.readLine(20s);
        if (!line || line->closed) return false;
        if (line->text.find("\"event\":\"" + name + "\"") != std::string::npos) return true;
    }
}

std::string refusalOf(const fs::path& socket, const ControlCommand& control) {
    try {
        sendControl(socket, control);
    } catch (const ProblemError& error) {
        return error.problem().code;
    }
    return "";
}

bool withoutGaps(const std::vector<NumberedEvent>& events, std::int64_t first) {
    for (const auto& each : events) {
        if (each.number != first++) return false;
    }
    return !events.empty();
}

}  // namespace

// First of all, while this process has no threads: the child is a fork of it.
void tst_RunSession::aKilledRunIsSettledAndResumed() {
#ifdef __SANITIZE_THREAD__
    QSKIP("ThreadSanitizer takes the threads that a forked child makes one after the other for the same one");
#endif
    const Home home;
    const pid_t child = fork();
    if (child == 0) {
        (void)home.run(smallSpec(100'000));
        _exit(0);
    }
    const auto client = attach(home.places.socket(1));
    QVERIFY(client != nullptr);
    QVERIFY(client->send(SubscribeCommand{}).ok());
    QVERIFY(waitForEvent(*client, "checkpoint_written"));
    QVERIFY(waitForEvent(*client, "eval_done"));
    QVERIFY(Lease::isHeld(home.places.lease(1)));
    const auto store = home.store();
    settleCrashed(*store, *home.query(), home.places);
    QCOMPARE(home.query()->find(1)->state, std::string("running"));

    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    QCOMPARE(home.query()->find(1)->state, std::string("running"));
    settleCrashed(*store, *home.query(), home.places);
    QCOMPARE(home.query()->find(1)->state, std::string("crashed"));

    RunControl control;
    control.stopAfterEpoch();
    const auto resumed = home.resume(1, &control);
    QVERIFY2(resumed.ok(), codeOf(resumed).c_str());
    QCOMPARE(home.query()->find(1)->state, std::string("stopped"));
    QCOMPARE(home.query()->find(1)->attempts, std::int64_t{2});
}

void tst_RunSession::aRunLeavesEverythingInItsPlace() {
    const Home home;
    const auto spec = smallSpec(3);
    const auto result = home.run(spec);
    QVERIFY2(result.ok(), codeOf(result).c_str());
    QVERIFY2(result.value().run.outcome == RunResult::Outcome::Finished, result.value().run.failed.what.c_str());
    const std::int64_t trial = 1;
    const auto query = home.query();
    const auto row = *query->find(trial);
    QCOMPARE(row.state, std::string("finished"));
    QCOMPARE(row.step, std::int64_t{12});
    QVERIFY(row.testAccuracy.has_value() && row.samplesPerSecond.has_value() && !row.finishedAt.empty());
    QCOMPARE(row.runDirectory, home.places.run(trial).string());
    QVERIFY(withoutGaps(query->events(trial, 1), 1));
    QCOMPARE(query->series(trial, "loss").size(), std::size_t{12});
    QVERIFY(std::holds_alternative<RunFinished>(query->events(trial, 1).back().event));
    QVERIFY(trialSpecFromFile(home.places.run(trial) / "spec.json").value() == spec);
    QVERIFY(fs::file_size(home.places.run(trial) / "run.log") > 0);
    QVERIFY(fs::file_size(home.places.run(trial) / "program.txt") > 0);
    TraceReader trace(home.places.trace(trial), 1);
    std::set<std::pair<int, std::string>> lanes;
    for (const auto& each : trace.read()) {
        const auto& lane = trace.lanes().at(each.lane);
        lanes.emplace(lane.rank, lane.name);
    }
    QVERIFY(lanes.contains({0, "compute"}) && lanes.contains({0, "load"}));
    QVERIFY(fs::exists(home.places.run(trial) / "checkpoints" / "last.safetensors"));
    QVERIFY(!fs::exists(home.places.socket(trial)));
    QVERIFY(!Lease::isHeld(home.places.lease(trial)));
}

// Who connects while the data are read hears how far they are, and may stop it: nothing was begun.
void tst_RunSession::readingTheDataIsToldAndStopped() {
    const Home home;
    auto spec = smallSpec(1);
    spec.dataset.id = "endless";
    auto running = std::async(std::launch::async, [&] { return home.run(spec); });
    const auto client = attach(home.places.socket(1));
    QVERIFY(client != nullptr);
    QVERIFY(client->send(SubscribeCommand{}).ok());
    for (int told = 0; told < 3; ++told) QVERIFY(waitForEvent(*client, "data_progress"));
    QCOMPARE(home.query()->find(1)->state, std::string("preparing"));
    QVERIFY(client->send(ControlCommand{"stop"}).ok());
    const auto result = running.get();
    QCOMPARE(codeOf(result), std::string("dataset.cancelled"));
    QCOMPARE(home.query()->find(1)->state, std::string("cancelled"));
    QVERIFY(home.query()->events(1, 1).empty());
    QVERIFY(!fs::exists(home.places.socket(1)));
    QVERIFY(!Lease::isHeld(home.places.lease(1)));
}

void tst_RunSession::aClientStopsARunAndResumeFinishesIt() {
    const Home home;
    auto spec = smallSpec(100'000);
    auto running = std::async(std::launch::async, [&] { return home.run(spec); });
    const auto client = attach(home.places.socket(1));
    QVERIFY(client != nullptr);
    QVERIFY(client->send(SubscribeCommand{}).ok());
    QVERIFY(waitForEvent(*client, "eval_done"));
    QCOMPARE(codeOf(home.resume(1)), std::string("run.busy"));
    QCOMPARE(refusalOf(home.places.socket(1), {"resume"}), std::string("run.busy"));
    QVERIFY(client->send(ControlCommand{"pause"}).ok());
    QVERIFY(waitForEvent(*client, "state_changed"));
    QCOMPARE(home.query()->find(1)->state, std::string("paused"));
    QVERIFY(client->send(ControlCommand{"resume"}).ok());
    QVERIFY(waitForEvent(*client, "step_done"));
    QVERIFY(client->send(ControlCommand{"stop"}).ok());
    QVERIFY(waitForEvent(*client, "run_finished"));
    const auto stopped = running.get();
    QVERIFY(stopped.ok() && stopped.value().run.outcome == RunResult::Outcome::Stopped);
    const auto before = home.query()->lastEvent(1);
    const auto steps = home.query()->find(1)->step;

    RunControl control;
    control.stopAfterEpoch();
    const auto resumed = home.resume(1, &control);
    QVERIFY2(resumed.ok(), codeOf(resumed).c_str());
    const auto query = home.query();
    QVERIFY(withoutGaps(query->events(1, 1), before + 1));
    QVERIFY(query->find(1)->step > steps);
    const auto series = query->series(1, "loss");
    QCOMPARE(static_cast<std::int64_t>(series.size()), query->find(1)->step);
    for (std::size_t i = 0; i < series.size(); ++i) QCOMPARE(series[i].step, static_cast<std::int64_t>(i) + 1);
}

// Whoever queued the trial may be gone: its row says why it failed.
void tst_RunSession::aRefusedTrialTellsWhyInItsRow() {
    const Home home;
    auto spec = smallSpec(1);
    spec.model.id = "no-such-model";
    QCOMPARE(codeOf(home.run(spec)), std::string("spec.unknown-model"));
    spec = smallSpec(1);
    spec.weights = "/nowhere/weights.safetensors";
    QCOMPARE(codeOf(home.run(spec)), std::string("weights.unreadable"));
    for (const std::int64_t trial : {1, 2}) {
        const auto row = *home.query()->find(trial);
        QCOMPARE(row.state, std::string("failed"));
        QCOMPARE(row.attempts, std::int64_t{1});
        QVERIFY(!row.finishedAt.empty());
        QVERIFY(problemIn(*home.query()->failure(trial)).has_value());
        QVERIFY(!Lease::isHeld(home.places.lease(trial)));
    }
    QCOMPARE(home.query()->failure(1)->kind, std::string("spec.unknown-model"));
    QCOMPARE(codeOf(home.run({.trial = 1})), std::string("run.not-queued"));
}

void tst_RunSession::onlyAQueuedTrialBegins() {
    const Home home;
    const auto trial = home.accept(smallSpec(1));
    QCOMPARE(codeOf(home.resume(trial)), std::string("run.not-resumable"));
    QCOMPARE(home.query()->find(trial)->state, std::string("queued"));
    fs::create_directories(home.places.run(trial));
    {
        const auto lease = Lease::tryAcquire(home.places.lease(trial));
        QCOMPARE(codeOf(home.run({.trial = trial})), std::string("run.busy"));
    }
    const auto done = home.run({.trial = trial});
    QVERIFY2(done.ok() && done.value().started, codeOf(done).c_str());
    QCOMPARE(home.query()->find(trial)->state, std::string("finished"));
    QCOMPARE(codeOf(home.run({.trial = trial})), std::string("run.not-queued"));
    QCOMPARE(codeOf(home.run({.trial = 7})), std::string("history.no-such-trial"));
}

// Called off while its data were opened: nobody failed.
void tst_RunSession::aTrialThatIsStoppedBeforeItBeginsIsCancelled() {
    const Home home;
    RunControl control;
    control.stop();
    QCOMPARE(codeOf(home.run({.trial = home.accept(smallSpec(1)), .control = &control})),
             std::string("dataset.cancelled"));
    QCOMPARE(home.query()->find(1)->state, std::string("cancelled"));
    QVERIFY(home.query()->events(1, 1).empty());
}

void tst_RunSession::aPlaceThatCannotBeIsSaid() {
    const fs::path nowhere = "/proc/lockstep";
    const Places impossible{nowhere, nowhere / "c", nowhere / "s", nowhere / "k"};
    QCOMPARE(codeOf(runSession({.trial = 1}, environment(), impossible)), std::string("home.unwritable"));
}

void tst_RunSession::aFailureEndsTheRow() {
    const Home home;
    auto spec = smallSpec(1);
    spec.dataset.id = "broken";
    const auto result = home.run(spec);
    QVERIFY2(result.ok(), codeOf(result).c_str());
    QVERIFY(result.value().run.outcome == RunResult::Outcome::Failed);
    const auto row = *home.query()->find(1);
    QCOMPARE(row.state, std::string("failed"));
    QVERIFY2(row.failure.find("bad sector") != std::string::npos, row.failure.c_str());
    QVERIFY(std::holds_alternative<RunFailed>(home.query()->events(1, 1).back().event));
}

void tst_RunSession::aLostDeviceIsAnAttemptFurther() {
    Home home;
    auto spec = smallSpec(6);
    spec.dataset.id = "unlucky";
    spec.devices = "reference:4";
    spec.checkEvery = 2;
    const auto done = home.run(spec);
    QVERIFY(done.ok());
    QCOMPARE(done.value().run.outcome, RunResult::Outcome::Finished);
    const std::int64_t trial = 1;
    const auto query = home.query();
    QCOMPARE(query->find(trial)->attempts, 2);
    QCOMPARE(query->find(trial)->state, std::string("finished"));
    const auto losses = query->series(trial, "loss");
    QCOMPARE(losses.size(), std::size_t{24});
    for (std::size_t i = 0; i < losses.size(); ++i) QCOMPARE(losses[i].step, static_cast<std::int64_t>(i + 1));
    std::vector<WorldChanged> changes;
    std::vector<RunStarted> started;
    for (const auto& each : query->events(trial, 1)) {
        if (const auto* changed = std::get_if<WorldChanged>(&each.event)) changes.push_back(*changed);
        if (const auto* start = std::get_if<RunStarted>(&each.event)) started.push_back(*start);
    }
    QCOMPARE(changes.size(), std::size_t{1});
    QCOMPARE(changes[0].reason, std::string("lost-device"));
    QCOMPARE(changes[0].what, std::string("fell off the bus"));
    QVERIFY(changes[0].step <= changes[0].reached);
    QCOMPARE(started.size(), std::size_t{1});  // of the latest attempt, as all events
    QCOMPARE(started[0].firstStep, changes[0].step);
    QCOMPARE(started[0].devices.size(), std::size_t{3});
}

void tst_RunSession::devicesChangeOnRequest() {
    Home home;
    auto running = std::async(std::launch::async, [&] { return home.run(smallSpec(100'000)); });
    const auto client = attach(home.places.socket(1));
    QVERIFY(client && client->send(SubscribeCommand{1}).ok());
    QVERIFY(waitForEvent(*client, "step_done"));
    QVERIFY(client->send(ControlCommand{"scale-to", 17}).ok());  // more devices than samples in a batch
    for (;;) {
        const auto line = client->readLine(20s);
        QVERIFY(line && !line->closed);
        if (line->text.find("\"error\"") == std::string::npos) continue;
        QVERIFY(line->text.find("spec.batch-too-small") != std::string::npos);
        break;
    }
    QVERIFY(client->send(ControlCommand{"scale-to", 3}).ok());
    QVERIFY(waitForEvent(*client, "world_changed"));
    QVERIFY(waitForEvent(*client, "run_started"));
    QVERIFY(waitForEvent(*client, "step_done"));
    QVERIFY(client->send(ControlCommand{"stop"}).ok());
    const auto result = running.get();
    QVERIFY(result.ok());
    QCOMPARE(result.value().run.outcome, RunResult::Outcome::Stopped);
    const auto query = home.query();
    QCOMPARE(query->find(1)->attempts, 2);
    const auto losses = query->series(1, "loss");
    for (std::size_t i = 0; i < losses.size(); ++i) QCOMPARE(losses[i].step, static_cast<std::int64_t>(i + 1));
    QCOMPARE(query->series(1, "compute.2").back().step, losses.back().step);
}

// Of two that are started for the same attempt one trains; the other, however late, changes nothing.
void tst_RunSession::anEngineThatComesLateIsRefused() {
    const Home home;
    RunControl control;
    control.runUntil(1);
    QVERIFY(home.run({.trial = home.accept(smallSpec(4)), .control = &control}).ok());
    RunControl further;
    further.runUntil(2);
    const SessionRequest request{.trial = 1, .resume = true, .control = &further, .attempt = 2};
    QVERIFY(home.run(request).ok());
    const auto before = *home.query()->find(1);
    QCOMPARE(before.epoch, std::int64_t{2});
    QCOMPARE(codeOf(home.run(request)), std::string("run.other-attempt"));
    const auto after = *home.query()->find(1);
    QVERIFY(after.epoch == 2 && after.attempts == 2 && after.state == before.state);
}

void tst_RunSession::socketsOfKilledRunsAreRemoved() {
    const Home home;
    QVERIFY(preparePlaces(home.places).ok());
    const auto store = home.store();
    for (int i = 0; i < 2; ++i) {
        const auto trial = store->createTrial({}, home.places.runs());
        Descriptor socket;
        QCOMPARE(listenLocal(home.places.socket(trial), socket), 0);
    }
    std::ofstream(home.places.socket(3)) << "a person's";
    const auto held = Lease::tryAcquire(home.places.lease(1));
    settleCrashed(*store, *home.query(), home.places);
    QVERIFY(fs::exists(home.places.socket(1)));
    QVERIFY(!fs::exists(home.places.socket(2)));
    QVERIFY(fs::exists(home.places.socket(3)));
}

QTEST_APPLESS_MAIN(tst_RunSession)
#include "tst_run_session.moc"
