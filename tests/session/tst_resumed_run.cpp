#include <QtTest>
#include <algorithm>
#include <cstring>
#include <fstream>

#include "engine/core/durable_file.h"
#include "engine/spec/kept_checkpoints.h"
#include "tests/session/session_fixture.h"
#include "tests/support/flip_byte.h"

using namespace lockstep;
using namespace lockstep::test;
using namespace std::chrono_literals;

class tst_ResumedRun : public QObject {
    Q_OBJECT
private slots:
    void aResumeThatWasCutShortCanBeRepeated();
    void theBestGoesOnWhereTheLastIsMissingOrOlder();
    void theNewestEpochGoesOnWhereTheLastIsMissing();
    void whatCannotBeResumedSaysWhy();
    void aFolderOfAnotherTrialIsNotResumed();
    void aCheckpointWithinAnEpochGoesOnBitForBit();
    void aRunKilledBeforeItsFirstCheckpointStartsAgain();
    void damagedCheckpointsAreDoneWithout();
    void changedDataAreRefusedOrAccepted();
    void aCheckpointWithoutAFingerprintGoesOn();
};

namespace {

namespace fs = std::filesystem;

// Trial 1, after the first of two epochs.
bool stoppedOnChangingData(const Home& home) {
    auto spec = smallSpec(2);
    dataOfToday() = std::exchange(spec.dataset.params, {});
    spec.dataset.id = "changing";
    RunControl stopping;
    stopping.stopAfterEpoch();
    return home.run({.trial = home.accept(spec), .control = &stopping}).ok();
}

bool haveSameTensors(const fs::path& one, const fs::path& other) {
    const auto a = readCheckpoint(one), b = readCheckpoint(other);
    return a.ok() && b.ok() && std::ranges::all_of(a.value().tensors, [&](const auto& each) {
               const auto& [name, tensor] = each;
               return std::memcmp(tensor.data(), b.value().tensors.at(name).data(), tensor.bytes()) == 0;
           });
}

}  // namespace

// Its engine was killed between the two states of a new attempt.
void tst_ResumedRun::aResumeThatWasCutShortCanBeRepeated() {
    const Home home;
    RunControl control;
    control.stopAfterEpoch();
    QVERIFY(home.run({.trial = home.accept(smallSpec(3)), .control = &control}).ok());
    home.store()->setState(1, RunState::Queued);
    const auto resumed = home.resume(1, &control);
    QVERIFY2(resumed.ok(), codeOf(resumed).c_str());
    QCOMPARE(home.query()->find(1)->attempts, std::int64_t{2});
}

// Killed between the best checkpoint of an epoch and its last.
void tst_ResumedRun::theBestGoesOnWhereTheLastIsMissingOrOlder() {
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
void tst_ResumedRun::theNewestEpochGoesOnWhereTheLastIsMissing() {
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

void tst_ResumedRun::whatCannotBeResumedSaysWhy() {
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

// The history of before comes back, and its number 1 is not the trial that the folder belongs to now.
void tst_ResumedRun::aFolderOfAnotherTrialIsNotResumed() {
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
void tst_ResumedRun::aCheckpointWithinAnEpochGoesOnBitForBit() {
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

void tst_ResumedRun::aRunKilledBeforeItsFirstCheckpointStartsAgain() {
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
void tst_ResumedRun::damagedCheckpointsAreDoneWithout() {
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

void tst_ResumedRun::changedDataAreRefusedOrAccepted() {
    const Home home;
    QVERIFY(stoppedOnChangingData(home));
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
void tst_ResumedRun::aCheckpointWithoutAFingerprintGoesOn() {
    const Home home;
    QVERIFY(stoppedOnChangingData(home));
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

QTEST_APPLESS_MAIN(tst_ResumedRun)
#include "tst_resumed_run.moc"
