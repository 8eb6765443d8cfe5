#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <cstring>
#include <fstream>
#include <future>
#include <set>
#include <thread>

#include "datasets/catalog.h"
#include "engine/backend/reference/reference_backend.h"
#include "engine/core/durable_file.h"
#include "engine/core/error.h"
#include "engine/session/adopt_runs.h"
#include "engine/session/local_socket.h"
#include "engine/session/run_session.h"
#include "engine/session/session_client.h"
#include "engine/session/trace_file.h"
#include "engine/spec/kept_checkpoints.h"
#include "engine/trials/control.h"
#include "engine/trials/judged_state.h"

using namespace lockstep;
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
    void aResumeThatWasCutShortCanBeRepeated();
    void aTrialThatIsStoppedBeforeItBeginsIsCancelled();
    void aPlaceThatCannotBeIsSaid();
    void theBestGoesOnWhereTheLastIsMissingOrOlder();
    void theNewestEpochGoesOnWhereTheLastIsMissing();
    void whatCannotBeResumedSaysWhy();
    void aFailureEndsTheRow();
    void aLostDeviceIsAnAttemptFurther();
    void devicesChangeOnRequest();
    void aLostHistoryIsMadeAgainFromItsFolders();
    void aFolderWithoutItsLogIsImported();
    void whatIsNoRunIsNotImported();
    void aFolderOfAnotherTrialIsNotResumed();
    void aCheckpointWithinAnEpochGoesOnBitForBit();
    void aRunKilledBeforeItsFirstCheckpointStartsAgain();
    void damagedCheckpointsAreDoneWithout();
    void anEngineThatComesLateIsRefused();
    void changedDataAreRefusedOrAccepted();
    void aCheckpointWithoutAFingerprintGoesOn();
    void socketsOfKilledRunsAreRemoved();
    void anEmptiedHistoryIsNotTakenForANewOne();
};

namespace {

namespace fs = std::filesystem;

// The synthetic dataset under its own name, and a second one whose third image is on a bad disk.
class Broken : public Dataset {
public:
    explicit Broken(std::shared_ptr<const Dataset> sound) : m_sound(std::move(sound)) {}
    const DatasetInfo& info() const override { return m_sound->info(); }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override {
        if (index == 3) throw EngineError(EngineError::Kind::Io, "image 3", "bad sector");
        m_sound->read(index, into);
    }

private:
    std::shared_ptr<const Dataset> m_sound;
};

// A device that fails once, when the reads of all samples have come to `m_at`.
class Unlucky : public Dataset {
public:
    explicit Unlucky(std::shared_ptr<const Dataset> sound) : m_sound(std::move(sound)) {}
    const DatasetInfo& info() const override { return m_sound->info(); }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override {
        if (m_reads.fetch_add(1) == 150) throw EngineError(EngineError::Kind::Device, "card", "fell off the bus");
        m_sound->read(index, into);
    }

private:
    std::shared_ptr<const Dataset> m_sound;
    mutable std::atomic<int> m_reads{0};
};

// What lies where the dataset "changing" is: the files of a person who adds, removes and edits.
std::map<std::string, ParamValue>& dataOfToday() {
    static std::map<std::string, ParamValue> params;
    return params;
}

const Environment& environment() {
    static const Environment* built = [] {
        auto* e = new Environment;
        e->add(makeReferenceBackend());
        for (const auto& model : builtinModels()) e->add(model);
        for (const auto& dataset : builtinDatasets({})) {
            if (dataset.id != "synthetic") continue;
            e->add(dataset);
            DatasetEntry broken = dataset;
            broken.id = "broken";
            broken.open = [open = dataset.open](const fs::path& path, const ParamValues& params,
                                                const OpeningWatch& watch) -> Result<DatasetSplits> {
                auto splits = open(path, params, watch);
                if (!splits.ok()) return splits.problems();
                return DatasetSplits{std::make_shared<Broken>(splits.value().train), splits.value().test};
            };
            e->add(broken);
            DatasetEntry unlucky = dataset;
            unlucky.id = "unlucky";
            unlucky.open = [open = dataset.open](const fs::path& path, const ParamValues& params,
                                                 const OpeningWatch& watch) -> Result<DatasetSplits> {
                auto splits = open(path, params, watch);
                if (!splits.ok()) return splits.problems();
                return DatasetSplits{std::make_shared<Unlucky>(splits.value().train), splits.value().test};
            };
            e->add(unlucky);
            DatasetEntry endless = dataset;
            endless.id = "endless";
            endless.open = [](const fs::path&, const ParamValues&, const OpeningWatch& watch) -> Result<DatasetSplits> {
                for (std::int64_t done = 0; !watch.stop.stop_requested(); ++done) {
                    watch.progress(done, 1'000'000);
                    std::this_thread::sleep_for(5ms);
                }
                return Problem{"endless", "dataset.cancelled", {}};
            };
            e->add(endless);
            DatasetEntry changing = dataset;
            changing.id = "changing";
            changing.open = [open = dataset.open, entry = dataset](const fs::path& path, const ParamValues&,
                                                                   const OpeningWatch& watch) {
                const auto params = ParamValues::from(entry.params, dataOfToday(), "");
                return open(path, params.value(), watch);
            };
            e->add(changing);
        }
        return e;
    }();
    return *built;
}

TrialSpec smallSpec(std::int64_t epochs) {
    TrialSpec spec;
    spec.dataset = {"synthetic",
                    {{"samples", std::int64_t{64}},
                     {"test_samples", std::int64_t{16}},
                     {"height", std::int64_t{8}},
                     {"width", std::int64_t{8}},
                     {"classes", std::int64_t{2}}}};
    spec.model = {"mlp", {}};
    spec.devices = "reference:2";
    spec.batch = 16;
    spec.epochs = epochs;
    spec.learningRate = 0.01;
    return spec;
}

struct Home {
    Home() {
        const fs::path base = folder.path().toStdString();
        places = {base, base / "cache", base / "sockets", base / "config"};
    }
    std::unique_ptr<TrialQuery> query() const { return std::move(TrialQuery::open(places.history())).value(); }
    std::unique_ptr<TrialStore> store() const { return std::move(TrialStore::open(places.history())).value(); }
    // As whoever accepts a spec does, and then the engine that runs its row.
    Result<SessionResult> run(const TrialSpec& spec) const { return run({.trial = accept(spec)}); }
    Result<SessionResult> run(const SessionRequest& request) const {
        return runSession(request, environment(), places);
    }
    Result<SessionResult> resume(std::int64_t trial, RunControl* control = nullptr) const {
        return run({.trial = trial, .resume = true, .control = control});
    }
    std::int64_t accept(const TrialSpec& spec) const {
        if (!preparePlaces(places).ok()) qFatal("no home");
        return store()->createTrial(spec, places.runs());
    }
    QTemporaryDir folder;
    Places places;
};

// Of a tensor, at the file's end.
void flipAByte(const fs::path& file) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(-5, std::ios::end);
    const char byte = static_cast<char>(stream.get() ^ 1);
    stream.seekp(-5, std::ios::end);
    stream.put(byte);
}

bool haveSameTensors(const fs::path& one, const fs::path& other) {
    const auto a = readCheckpoint(one), b = readCheckpoint(other);
    return a.ok() && b.ok() && std::ranges::all_of(a.value().tensors, [&](const auto& each) {
               const auto& [name, tensor] = each;
               return std::memcmp(tensor.data(), b.value().tensors.at(name).data(), tensor.bytes()) == 0;
           });
}

template <class T>
std::string codeOf(const Result<T>& result) {
    return result.ok() ? "" : result.problems().front().code;
}

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

// Its engine was killed between the two states of a new attempt.
void tst_RunSession::aResumeThatWasCutShortCanBeRepeated() {
    const Home home;
    RunControl control;
    control.stopAfterEpoch();
    QVERIFY(home.run({.trial = home.accept(smallSpec(3)), .control = &control}).ok());
    home.store()->setState(1, RunState::Queued);
    const auto resumed = home.resume(1, &control);
    QVERIFY2(resumed.ok(), codeOf(resumed).c_str());
    QCOMPARE(home.query()->find(1)->attempts, std::int64_t{2});
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

// Killed between the best checkpoint of an epoch and its last.
void tst_RunSession::theBestGoesOnWhereTheLastIsMissingOrOlder() {
    const Home home;
    QVERIFY(home.run(smallSpec(2)).ok());
    const fs::path last = home.places.run(1) / "checkpoints" / "last.safetensors",
                   best = last.parent_path() / "best.safetensors";
    Checkpoint checkpoint = readCheckpoint(best).value();
    const auto further = readCheckpoint(last).value();
    const auto resumedFrom = [&] {
        home.store()->setState(1, RunState::Crashed);
        const bool ran = home.resume(1).ok();
        const auto started = home.query()->events(1, 1);
        return ran ? std::get<RunStarted>(started.front().event).firstStep : std::int64_t{-1};
    };
    fs::remove(last);
    QCOMPARE(resumedFrom(), checkpoint.step);
    checkpoint.step -= 1;
    checkpoint.stepInEpoch = 0;
    writeCheckpoint(last, checkpoint);  // an older one, and then the best
    writeCheckpoint(best, further);
    QCOMPARE(resumedFrom(), further.step);
}

// Of several that are kept the one that goes furthest.
void tst_RunSession::theNewestEpochGoesOnWhereTheLastIsMissing() {
    const Home home;
    TrialSpec spec = smallSpec(3);
    spec.keepCheckpoints = "best:3";
    QVERIFY(home.run(spec).ok());
    const fs::path folder = home.places.run(1) / "checkpoints";
    const std::int64_t step = readCheckpoint(folder / "epoch-2.safetensors").value().step;
    fs::remove(folder / "last.safetensors");
    fs::remove(folder / "epoch-3.safetensors");
    home.store()->setState(1, RunState::Crashed);
    QVERIFY(home.resume(1).ok());
    QCOMPARE(std::get<RunStarted>(home.query()->events(1, 1).front().event).firstStep, step);
    QVERIFY(fs::exists(folder / "epoch-3.safetensors") && fs::exists(folder / "last.safetensors"));
}

void tst_RunSession::whatCannotBeResumedSaysWhy() {
    const Home home;
    QVERIFY(home.run(smallSpec(1)).ok());
    QCOMPARE(codeOf(home.resume(1)), std::string("run.not-resumable"));
    QCOMPARE(codeOf(home.resume(2)), std::string("history.no-such-trial"));
    home.store()->setState(1, RunState::Stopped);
    fs::remove_all(home.places.run(1) / "checkpoints");
    QCOMPARE(codeOf(home.resume(1)), std::string("run.no-checkpoint"));
    fs::create_directories(home.places.run(1) / "checkpoints");
    std::ofstream(home.places.run(1) / "checkpoints" / kFreedMark) << "2026-11-24T12:00:00Z\n";
    QCOMPARE(codeOf(home.resume(1)), std::string("run.checkpoints-freed"));
    QCOMPARE(home.query()->find(1)->state, std::string("stopped"));
    QCOMPARE(home.query()->find(1)->attempts, std::int64_t{1});
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

// As for a damaged history: moved away, and on with a new one.
void tst_RunSession::aLostHistoryIsMadeAgainFromItsFolders() {
    const Home home;
    RunControl control;
    control.stopAfterEpoch();
    auto spec = smallSpec(3);
    spec.title = "of before";
    QVERIFY(home.run({.trial = home.accept(spec), .control = &control}).ok());
    RunControl again;
    again.stopAfterEpoch();
    QVERIFY(home.resume(1, &again).ok());
    const auto row = *home.query()->find(1);
    const auto losses = home.query()->series(1, "test_loss");
    const auto last = home.places.run(1) / "checkpoints" / "last.safetensors";
    const auto written = fs::last_write_time(last);
    const auto known = home.query()->known(1);
    QVERIFY(!classesOf(known).empty() && known.fingerprint);
    fs::rename(home.places.history(), home.places.data / "damaged.sqlite");

    QVERIFY(home.run(smallSpec(1)).ok());
    QCOMPARE(home.query()->list({}).front().id, std::int64_t{2});
    QVERIFY(fs::last_write_time(last) == written);
    QCOMPARE(orphanedRuns(*home.query(), home.places), std::vector<std::int64_t>{1});
    QVERIFY(!adoptRun(*home.store(), home.places, 1));
    QVERIFY(orphanedRuns(*home.query(), home.places).empty());
    const auto back = *home.query()->find(1);
    QCOMPARE(back.title, row.title);
    QCOMPARE(back.state, std::string("stopped"));
    QCOMPARE(back.attempts, row.attempts);
    QCOMPARE(back.step, row.step);
    QCOMPARE(back.epoch, row.epoch);
    QCOMPARE(*back.bestAccuracy, *row.bestAccuracy);
    QCOMPARE(*back.lowestTestLoss, *row.lowestTestLoss);
    QVERIFY(back.createdAt.substr(0, 10) == row.createdAt.substr(0, 10) && !back.finishedAt.empty());
    QCOMPARE(home.query()->spec(1).value(), spec);
    QVERIFY(home.query()->known(1) == known);
    QCOMPARE(home.query()->series(1, "test_loss").size(), losses.size());
    const auto resumed = home.resume(1);
    QVERIFY2(resumed.ok(), codeOf(resumed).c_str());
    QCOMPARE(resumed.value().run.outcome, RunResult::Outcome::Finished);
    QCOMPARE(home.query()->find(1)->attempts, 3);
    QCOMPARE(codeOf(Result<int>(*adoptRun(*home.store(), home.places, 1))), std::string("history.refused"));
}

void tst_RunSession::aFolderWithoutItsLogIsImported() {
    const Home home;
    QVERIFY(home.run(smallSpec(2)).ok());
    fs::remove(home.places.history());
    fs::remove(home.places.run(1) / "run.log");
    fs::remove(home.places.run(1) / "spec.json");
    QVERIFY(!adoptRun(*home.store(), home.places, 1));
    const auto row = *home.query()->find(1);
    QCOMPARE(row.state, std::string("finished"));
    QCOMPARE(row.step, std::int64_t{8});
    QCOMPARE(row.epoch, std::int64_t{2});
    QVERIFY(row.bestAccuracy.has_value() && row.lowestTestLoss.has_value());
}

void tst_RunSession::whatIsNoRunIsNotImported() {
    const Home home;
    QVERIFY(preparePlaces(home.places).ok());
    const auto store = home.store();
    fs::create_directories(home.places.run(1));
    fs::create_directories(home.places.run(2) / "checkpoints");
    std::ofstream(home.places.run(2) / "checkpoints" / "last.safetensors") << "none";
    fs::create_directories(home.places.run(3));
    replaceFile(home.places.run(3) / "spec.json", toJson(smallSpec(1)));
    const auto held = Lease::tryAcquire(home.places.lease(3));
    QCOMPARE(orphanedRuns(*home.query(), home.places), (std::vector<std::int64_t>{2, 3}));
    QCOMPARE(adoptRun(*store, home.places, 1)->code, std::string("run.nothing-to-import"));
    QCOMPARE(adoptRun(*store, home.places, 2)->code, std::string("checkpoint.not-safetensors"));
    QCOMPARE(adoptRun(*store, home.places, 3)->code, std::string("run.busy"));
    QVERIFY(home.query()->list({}).empty());
}

// The history of before comes back, and its number 1 is not the trial that the folder belongs to now.
void tst_RunSession::aFolderOfAnotherTrialIsNotResumed() {
    const Home home;
    RunControl control;
    control.stopAfterEpoch();
    QVERIFY(home.run({.trial = home.accept(smallSpec(2)), .control = &control}).ok());
    auto other = smallSpec(2);
    other.seed += 1;
    replaceFile(home.places.run(1) / "spec.json", toJson(other));
    QCOMPARE(codeOf(home.resume(1)), std::string("run.folder-of-another"));
    QCOMPARE(trialSpecFromFile(home.places.run(1) / "spec.json").value(), other);
    other.seed -= 1;
    other.title = "another name";
    other.devices = "reference:1";
    replaceFile(home.places.run(1) / "spec.json", toJson(other));
    QVERIFY(home.resume(1).ok());
}

// As a run that was killed after its second update, of four in the epoch.
void tst_RunSession::aCheckpointWithinAnEpochGoesOnBitForBit() {
    const Home home;
    const fs::path last = home.places.run(1) / "checkpoints" / "last.safetensors", kept = home.places.data / "kept";
    class Keeper : public EventSink {
    public:
        Keeper(fs::path from, fs::path to) : m_from(std::move(from)), m_to(std::move(to)) {}
        void post(std::int64_t, const TrainEvent& event) override {
            const auto* written = std::get_if<CheckpointWritten>(&event);
            if (written && written->step == 2) fs::copy_file(m_from, m_to);
        }

    private:
        fs::path m_from, m_to;
    } keeper(last, kept);
    auto spec = smallSpec(1);
    spec.checkpointMinutes = 1e-9;
    QVERIFY(home.run({.trial = home.accept(spec), .extraSinks = {&keeper}}).ok());
    const auto whole = readCheckpoint(last).value();
    QCOMPARE(readCheckpoint(kept).value().stepInEpoch, std::int64_t{2});
    fs::remove_all(last.parent_path());
    fs::create_directory(last.parent_path());
    fs::rename(kept, last);
    home.store()->setState(1, RunState::Crashed);
    QVERIFY(home.resume(1).ok());
    const auto resumed = readCheckpoint(last).value();
    QCOMPARE(resumed.step, whole.step);
    QCOMPARE(resumed.epochSums, whole.epochSums);
    for (const auto& [name, tensor] : whole.tensors) {
        const auto& other = resumed.tensors.at(name);
        QVERIFY2(std::memcmp(tensor.data(), other.data(), tensor.bytes()) == 0, name.c_str());
    }
}

void tst_RunSession::aRunKilledBeforeItsFirstCheckpointStartsAgain() {
    const Home home;
    QVERIFY(preparePlaces(home.places).ok());
    const auto trial = home.store()->createTrial(smallSpec(1), home.places.runs());
    home.store()->beginAttempt(trial, 0);
    home.store()->setState(trial, RunState::Running);
    class Listener : public EventSink {
    public:
        std::vector<std::string> said;
        void post(std::int64_t, const TrainEvent& event) override {
            if (const auto* message = std::get_if<Message>(&event)) said.push_back(message->text.code);
        }
    } listener;
    const auto again = home.run({.trial = trial, .resume = true, .extraSinks = {&listener}});
    QVERIFY2(again.ok(), codeOf(again).c_str());
    QVERIFY(std::ranges::find(listener.said, "run.starts-again") != listener.said.end());
    const auto row = *home.query()->find(trial);
    QCOMPARE(row.state, std::string("finished"));
    QCOMPARE(row.attempts, std::int64_t{2});
    QCOMPARE(row.step, std::int64_t{4});
}

// Where that is allowed: from what is left of them, or from the first step; both come to the same bits.
void tst_RunSession::damagedCheckpointsAreDoneWithout() {
    const Home home;
    QVERIFY(home.run(smallSpec(3)).ok());
    const auto fileOf = [&](std::int64_t trial, std::string_view role) {
        return home.places.run(trial) / "checkpoints" / checkpointName(role);
    };
    for (const bool bestAsWell : {false, true}) {
        RunControl control;
        control.stopAfterEpoch();
        const auto trial = home.accept(smallSpec(3));
        QVERIFY(home.run({.trial = trial, .control = &control}).ok());
        flipAByte(fileOf(trial, kLast));
        if (bestAsWell) flipAByte(fileOf(trial, kBest));
        QCOMPARE(codeOf(home.resume(trial)), std::string("checkpoint.altered"));
        QCOMPARE(home.query()->find(trial)->state, std::string("stopped"));

        const auto again = home.run({.trial = trial, .resume = true, .mayStartAgain = true});
        QVERIFY2(again.ok(), codeOf(again).c_str());
        QCOMPARE(home.query()->find(trial)->state, std::string("finished"));
        std::vector<std::string> damaged;
        std::optional<std::int64_t> firstStep;
        for (const auto& each : home.query()->events(trial, 1)) {
            const auto* said = std::get_if<Message>(&each.event);
            if (said && said->text.code == "run.damaged-checkpoint") damaged.push_back(said->text.field);
            if (const auto* began = std::get_if<RunStarted>(&each.event)) firstStep = began->firstStep;
        }
        QCOMPARE(damaged.size(), std::size_t(bestAsWell ? 2 : 1));
        QCOMPARE(damaged.front(), fileOf(trial, kLast).string());
        QCOMPARE(*firstStep, std::int64_t(bestAsWell ? 0 : 4));
        QVERIFY(haveSameTensors(fileOf(trial, kLast), fileOf(1, kLast)));
    }
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

void tst_RunSession::changedDataAreRefusedOrAccepted() {
    const Home home;
    auto spec = smallSpec(2);
    dataOfToday() = std::exchange(spec.dataset.params, {});
    spec.dataset.id = "changing";
    RunControl stopping;
    stopping.stopAfterEpoch();
    QVERIFY(home.run({.trial = home.accept(spec), .control = &stopping}).ok());
    const auto before = *home.query()->find(1);
    const auto known = home.query()->known(1);
    QCOMPARE(before.state, std::string("stopped"));

    dataOfToday()["samples"] = std::int64_t{63};
    const auto fewer = home.resume(1);
    QCOMPARE(codeOf(fewer), std::string("data.other-count"));
    QCOMPARE(fewer.problems().size(), std::size_t{1});
    QCOMPARE(fewer.problems().front().args, (std::vector<std::string>{"training", "64", "63"}));
    dataOfToday()["samples"] = std::int64_t{64};
    dataOfToday()["seed"] = std::int64_t{2};
    const auto other = home.resume(1);
    QCOMPARE(codeOf(other), std::string("data.other-content"));
    QCOMPARE(other.problems().size(), std::size_t{2});
    QCOMPARE(other.problems().back().args, (std::vector<std::string>{"test", "16", "16"}));
    const auto after = *home.query()->find(1);  // nothing has come of either
    QCOMPARE(after.state, before.state);
    QCOMPARE(after.attempts, before.attempts);
    QVERIFY(known.fingerprint && home.query()->known(1) == known);

    const auto accepted = home.run({.trial = 1, .resume = true, .changedData = ChangedData::Accept});
    QVERIFY2(accepted.ok(), codeOf(accepted).c_str());
    QCOMPARE(home.query()->find(1)->state, std::string("finished"));
    std::vector<std::string> said;
    for (const auto& each : home.query()->events(1, 1)) {
        if (const auto* message = std::get_if<Message>(&each.event)) said.push_back(message->text.code);
    }
    QCOMPARE(said, (std::vector<std::string>{"data.other-content-accepted", "data.other-content-accepted"}));
    const auto last = readCheckpoint(home.places.run(1) / "checkpoints" / "last.safetensors");
    QVERIFY(last.value().data.has_value());
    QVERIFY(last.value().data->train.samples == 64);
    QVERIFY(known.fingerprint != last.value().data && home.query()->known(1).fingerprint == last.value().data);
}

// Of a version that did not keep one.
void tst_RunSession::aCheckpointWithoutAFingerprintGoesOn() {
    const Home home;
    auto spec = smallSpec(2);
    dataOfToday() = std::exchange(spec.dataset.params, {});
    spec.dataset.id = "changing";
    RunControl stopping;
    stopping.stopAfterEpoch();
    QVERIFY(home.run({.trial = home.accept(spec), .control = &stopping}).ok());
    for (const char* name : {"last.safetensors", "best.safetensors"}) {
        const fs::path file = home.places.run(1) / "checkpoints" / name;
        auto checkpoint = readCheckpoint(file).value();
        QVERIFY(std::exchange(checkpoint.data, std::nullopt).has_value());
        writeCheckpoint(file, checkpoint);
    }
    dataOfToday()["seed"] = std::int64_t{2};
    const auto resumed = home.resume(1);
    QVERIFY2(resumed.ok(), codeOf(resumed).c_str());
    QCOMPARE(home.query()->find(1)->state, std::string("finished"));
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

void tst_RunSession::anEmptiedHistoryIsNotTakenForANewOne() {
    const Home home;
    QVERIFY(preparePlaces(home.places).ok());
    std::ofstream(home.places.history()).flush();
    QVERIFY(preparePlaces(home.places).ok());  // nothing is lost
    fs::create_directory(home.places.run(1));
    QCOMPARE(codeOf(preparePlaces(home.places)), std::string("history.emptied"));
    QCOMPARE(codeOf(home.resume(1)), std::string("history.emptied"));
    fs::remove(home.places.history());
    QVERIFY(preparePlaces(home.places).ok());
}

QTEST_APPLESS_MAIN(tst_RunSession)
#include "tst_run_session.moc"
