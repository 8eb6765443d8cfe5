#pragma once
#include <atomic>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "engine/core/trace.h"
#include "engine/spec/train_event.h"
#include "engine/train/checkpoint.h"
#include "engine/train/plan_run.h"

namespace lockstep {

// What others may ask of a run; any thread. Ranks agree on the step at which a request takes effect.
class RunControl {
public:
    void pause() noexcept { m_pause.store(true); }
    void resume() noexcept {
        m_pause.store(false);
        m_pause.notify_all();
    }
    // After the current step, with a checkpoint.
    void stop() noexcept {
        m_stop.request_stop();
        resume();
    }
    void stopAfterEpoch() noexcept {
        m_lastEpoch.store(0);
        resume();
    }
    // Said before the run begins: stops, with a checkpoint, at the end of epoch number `epoch` (from 1), or of the
    // first that ends behind it. The schedule stays that of all epochs.
    void runUntil(std::int64_t epoch) noexcept { m_lastEpoch.store(epoch); }
    // Go on with so many devices.
    void scaleTo(int devices) noexcept {
        m_devices.store(devices);
        resume();
    }
    // Go on with shares by measured step times.
    void balance() noexcept {
        m_balance.store(true);
        resume();
    }
    bool paused() const noexcept { return m_pause.load(); }
    bool stopping() const noexcept { return m_stop.stop_requested(); }
    std::stop_token stopToken() const noexcept { return m_stop.get_token(); }
    bool stopsAfter(std::int64_t epoch) const noexcept { return epoch >= m_lastEpoch.load(); }
    bool changing() const noexcept { return m_devices.load() > 0 || m_balance.load(); }
    int takeDevices() noexcept { return m_devices.exchange(0); }  // 0: not asked for
    bool takeBalance() noexcept { return m_balance.exchange(false); }
    void waitWhilePaused() const { m_pause.wait(true); }
    // A word of whoever watches the run: it becomes a warning among the run's events, with the next step.
    void note(Problem problem) {
        const std::lock_guard lock(m_notesMutex);
        m_notes.push_back(std::move(problem));
        m_hasNotes.store(true);
    }
    std::vector<Problem> takeNotes() {
        if (!m_hasNotes.load()) return {};
        const std::lock_guard lock(m_notesMutex);
        m_hasNotes.store(false);
        return std::exchange(m_notes, {});
    }

private:
    std::atomic<bool> m_pause{false}, m_balance{false}, m_hasNotes{false};
    std::stop_source m_stop;
    std::atomic<std::int64_t> m_lastEpoch{std::numeric_limits<std::int64_t>::max()};
    std::atomic<int> m_devices{0};
    std::mutex m_notesMutex;
    std::vector<Problem> m_notes;
};

// A stretch of a trial that one world of ranks trains.
struct Attempt {
    std::int64_t number = 1;
    TraceBoard* trace = nullptr;
};

struct RunOptions {
    std::filesystem::path checkpointFolder;  // empty: none are written
    std::optional<Checkpoint> resumeFrom;
    std::int64_t trial = 0, attempt = 1;
    std::int64_t firstEventNumber = 1;
    TraceBoard* trace = nullptr;
    // When the world changes, between the ranks of before and those that follow; on the caller's thread. The spec for
    // so many devices; empty: scaleTo() is refused. And a new attempt from that step on.
    std::function<Result<ResolvedSpec>(int devices)> scale;
    std::function<Attempt(std::int64_t step)> beginAttempt;
    // A rank hangs: the failure is the last event; threads remain that cannot be ended, so this should end the process.
    std::function<void(const RunFailed& failure)> onStuck;
    std::function<void(const RunPlan& plan)> onPlan;  // once everything is compiled, before the first step
    // The rate of an update (from 0) in place of the schedule's: a pure function, called on every rank's thread.
    std::function<double(std::int64_t update)> learningRate;
    // Fault injection for tests: called on the rank's thread before each program step.
    std::function<void(int rank, std::int64_t step, std::size_t programStep)> beforeStep;
    // For tests: called on each rank's thread after each optimizer update.
    std::function<void(int rank, std::int64_t step, class Replica& replica)> afterStep;
};

struct RunResult {
    enum class Outcome { Finished, Stopped, Failed };
    Outcome outcome = Outcome::Finished;
    RunFinished finished;  // of a run that did not fail
    RunFailed failed;      // of one that did
};

// Runs a trial to its end on the calling thread's time: one worker thread per device, events to the sinks in order,
// numbered from firstEventNumber. Every spec.checkEvery updates, and before a checkpoint, the replicas are compared;
// what they agree on is kept as a snapshot. A device that is lost, a replica that differs from the others, scaleTo()
// and balance() each end the ranks and start those that follow from the snapshot: WorldChanged, then RunStarted with
// the next attempt, the same global batch. A run whose checkpoints do not fit on the disk does not begin: "run.disk",
// see disk_need.h. Everything that goes wrong after resolve() becomes a RunFailed event and a Failed result; nothing is
// thrown. Exactly one RunFinished or RunFailed is the last event. A problem that a person can repair fails the run as
// failureFrom() tells it. Rank -1: nobody's in particular (planning; what is not finite, a sum over all ranks).
// Checkpoints: last.safetensors after each epoch, every spec.checkpointMinutes within one, and at a stop;
// best.safetensors when the test accuracy, or a language model's test loss, is the best so far; with keep_checkpoints
// of best:3 instead epoch-7.safetensors after an epoch that is one of the three best so far, and with last no other.
// Those that are too many go when the new ones are on the disk.
RunResult runTrial(const ResolvedSpec& resolved, const DatasetSplits& data, const RunOptions& options,
                   RunControl& control, const std::vector<EventSink*>& sinks);

constexpr const char* kBenchStopped = "bench.stopped";  // the code of what a stopped benchmark() throws

struct BenchResult {
    double samplesPerSecond = 0, loss = 0, firstLoss = 0, seconds = 0;
    double compute = 0, reduce = 0;  // rank 0's, per step: in kernels, and in all-reduces that kernels did not hide
    double carried = 0;              // per step: what the simulated links took, hidden or not; 0: there are none
    std::int64_t steps = 0;
    double flops = 0;                    // of a step: convolutions and products of matrices
    std::size_t deviceBytes = 0;         // arenas of the hungriest device, as planned
    std::optional<Problem> ofPrecision;  // precisionRemark()
};
struct BenchRequest {
    const ResolvedSpec& resolved;
    const ModelInput& input;
    std::int64_t steps = 20, warmup = 3;
    double seconds = 0;      // where positive: twice the steps while they took less than half of it
    bool inference = false;  // the programs of evaluation
    std::stop_token stop = {};
};
// Train's own programs, update, metrics and running statistics included, on one resident synthetic batch per rank. The
// losses are over the whole batch, in inference over rank 0's share. Throws the ProblemError of shortOfMemory(), and
// before the next step, once `stop` is asked for, kBenchStopped.
BenchResult benchmark(const BenchRequest& request);

}  // namespace lockstep
