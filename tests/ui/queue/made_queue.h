#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/history/queue_store.h"
#include "engine/history/trial_store.h"
#include "engine/queue/queue_keeper.h"
#include "engine/queue/sweep_progress.h"
#include "engine/session/lease.h"
#include "engine/session/places.h"

namespace lockstep::test {

// A home whose queue is made up: nothing trains. As long as it lives, it holds what an engine and the process that
// starts trials would hold.
class MadeQueue {
public:
    explicit MadeQueue(const Places& home) : places(home), store(std::move(TrialStore::open(home.history())).value()) {}

    // Nobody else starts what waits.
    void keep() { m_keeper = QueueKeeper::claim({places, "/bin/true", {}}); }
    void letGo() { m_keeper.reset(); }

    std::int64_t wait(const std::string& title, const QueueEntry& how = {},
                      const std::optional<GroupPlace>& place = std::nullopt) {
        return queue().createTrial(specOf(title), places.runs(), how, place);
    }
    // At the end of an epoch of ten, of a hundred steps each.
    std::int64_t run(const std::string& title, std::int64_t epoch, const std::optional<GroupPlace>& place = {}) {
        const std::int64_t trial = wait(title, {}, place);
        std::filesystem::create_directories(places.run(trial));
        m_leases.push_back(Lease::tryAcquire(places.lease(trial)));
        RunStarted started;
        started.trial = trial;
        started.stepsPerEpoch = 100;
        started.epochs = 10;
        started.task = "image-classes";
        post(trial, {started, StateChanged{"running", 0}, evaluation(epoch, 0.5)});
        return trial;
    }
    // A trial of a sweep that has come to its end, and to this accuracy; its run folder has a few bytes.
    std::int64_t finish(const std::string& title, double accuracy, const std::optional<GroupPlace>& place = {}) {
        return finish(specOf(title), accuracy, place);
    }
    std::int64_t finish(const TrialSpec& spec, double accuracy, const std::optional<GroupPlace>& place) {
        const std::int64_t trial = queue().createTrial(spec, places.runs(), {}, place);
        queue().remove(trial);
        RunFinished finished;
        finished.outcome = "finished";
        finished.trial = trial;
        finished.step = 1000, finished.epoch = 10;
        finished.testAccuracy = finished.bestAccuracy = accuracy;
        finished.testLoss = 1 - accuracy;
        finished.seconds = 120;
        post(trial, {StateChanged{"running", 0}, evaluation(10, accuracy), finished});
        const auto folder = places.run(trial) / "checkpoints";
        std::filesystem::create_directories(folder);
        std::ofstream(folder / "last.safetensors") << std::string(kCheckpointBytes, 'x');
        return trial;
    }
    // One that was evaluated after each of its epochs, of 99 full batches and half of one.
    struct Training {
        std::vector<double> accuracies = {};
        double secondsEach = 12;  // epoch
        std::size_t devices = 1;
        std::string outcome = "finished";
    };
    std::int64_t train(const Training& training, const std::optional<GroupPlace>& place = {}) {
        const std::int64_t trial = wait("", {}, place);
        queue().remove(trial);
        const auto epochs = std::ssize(training.accuracies);
        RunStarted started;
        started.trial = trial;
        started.devices = std::vector<std::string>(training.devices, "cpu:1");
        started.stepsPerEpoch = 100;
        started.trainSamples = 99 * 128 + 64;
        started.epochs = 10;
        started.task = "image-classes";
        std::vector<TrainEvent> events{started, StateChanged{"running", 0}};
        for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) {
            EvalDone done = evaluation(epoch, training.accuracies[static_cast<std::size_t>(epoch - 1)]);
            done.seconds = training.secondsEach * static_cast<double>(epoch);
            events.emplace_back(done);
        }
        RunFinished finished;
        finished.outcome = training.outcome;
        finished.trial = trial;
        finished.step = 100 * epochs, finished.epoch = epochs;
        finished.testAccuracy = training.accuracies.back();
        finished.testLoss = 1 - training.accuracies.back();
        finished.bestAccuracy = std::ranges::max(training.accuracies);
        finished.seconds = training.secondsEach * static_cast<double>(epochs);
        events.emplace_back(finished);
        post(trial, events);
        return trial;
    }
    std::int64_t fail(const std::string& title, const std::optional<GroupPlace>& place = {}) {
        const std::int64_t trial = wait(title, {}, place);
        queue().remove(trial);
        post(trial, {StateChanged{"running", 0}, RunFailed{"out-of-memory", "conv1", "3 GiB wanted", 0, 7}});
        return trial;
    }

    // One of such a sweep that waits at a rung.
    std::int64_t pause(std::int64_t untilEpoch, double accuracy, const GroupPlace& place) {
        const std::int64_t trial = queue().createTrial(specOf(""), places.runs(), {}, place, untilEpoch);
        queue().remove(trial);
        std::vector<TrainEvent> events{StateChanged{"running", 0}};
        for (std::int64_t epoch = 1; epoch <= untilEpoch; ++epoch) events.push_back(evaluation(epoch, accuracy));
        events.push_back(StateChanged{"stopped", 100 * untilEpoch});
        post(trial, events);
        return trial;
    }

    // Of twelve cells, of which so many were suggested: batches of 32, 64, 128…
    std::int64_t sweep(const std::string& title, std::int64_t cells, const std::string& scheduler = {}) {
        SweepSpec spec;
        spec.title = title;
        spec.trial = specOf(title);
        NumberRange batches{32, 512};
        batches.isWhole = true;
        spec.vary = {{"batch", batches}, {"learning_rate", NumberRange{0.001, 0.1}}};
        spec.objective = "test_accuracy";
        spec.trials = 12;
        spec.scheduler = scheduler;
        TrialGroup group;
        group.title = title;
        group.specJson = sweepJson(spec);
        const std::int64_t number = queue().createGroup(group);
        for (std::int64_t i = 0; i < cells; ++i) {
            const Cell cell{{"batch", std::int64_t{32} << i}, {"learning_rate", 0.01}};
            queue().addCell(number, {i, cellText(cell)});
        }
        return number;
    }

    QueueStore queue() { return QueueStore(*store); }
    void loseEngines() { m_leases.clear(); }  // all of them die

    static TrialSpec specOf(const std::string& title) {
        TrialSpec spec;
        spec.title = title;
        spec.devices = "cpu:1x1";
        spec.epochs = 10;
        return spec;
    }

    static constexpr std::size_t kCheckpointBytes = 3 << 20;
    const Places places;
    const std::unique_ptr<TrialStore> store;

private:
    static EvalDone evaluation(std::int64_t epoch, double accuracy) {
        EvalDone done;
        done.step = 100 * epoch;
        done.epoch = epoch;
        done.samples = 10'000;
        done.accuracy = accuracy;
        done.loss = 1 - accuracy;
        done.seconds = 12.0 * static_cast<double>(epoch);
        return done;
    }
    void post(std::int64_t trial, const std::vector<TrainEvent>& events) {
        const auto sink = store->sinkFor(trial, store->beginAttempt(trial, 0));
        std::int64_t number = 0;
        for (const TrainEvent& each : events) sink->post(++number, each);
        store->flush();
    }

    std::unique_ptr<QueueKeeper> m_keeper;
    std::vector<std::optional<Lease>> m_leases;
};

}  // namespace lockstep::test
