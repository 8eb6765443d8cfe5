#include "engine/train/trainer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/core/error.h"
#include "engine/spec/shares.h"
#include "engine/train/asked_data.h"
#include "engine/train/checkpoint_keeper.h"
#include "engine/train/choose_precision.h"
#include "engine/train/disk_need.h"
#include "engine/train/evaluate.h"
#include "engine/train/make_group.h"
#include "engine/train/memory_need.h"
#include "engine/train/open_data.h"
#include "engine/train/precision_remark.h"
#include "engine/train/worker.h"

namespace lockstep {

namespace {

RunResult asResult(RunFailed failure) {
    RunResult result;
    result.outcome = RunResult::Outcome::Failed;
    result.failed = std::move(failure);
    return result;
}

RunResult failed(RunFailed failure, EventLog& events) {
    events.post(failure);
    return asResult(std::move(failure));
}

RunResult finished(const RunFinished& end, EventLog& events) {
    events.post(end);
    const bool stopped = end.outcome == "stopped";
    return {stopped ? RunResult::Outcome::Stopped : RunResult::Outcome::Finished, end, {}};
}

RunFailed failureOf(const AbortCause& cause, std::int64_t step) {
    // What is not finite is a sum over all ranks: it is nobody's in particular.
    const bool everybodys = cause.kind == text(EngineError::Kind::NonFinite);
    return {cause.kind,     cause.where,      cause.what,   everybodys ? -1 : cause.rank, step, cause.args,
            cause.sequence, cause.collective, cause.waiting};
}

// What leaves the others usable. A corrupted context does not: the run ends, and with it the process.
bool isLostDevice(const AbortCause& cause) { return cause.kind == text(EngineError::Kind::Device); }

// A trial from its first world to its last: what follows when the ranks of one have left.
class TrialRun {
public:
    TrialRun(const ResolvedSpec& resolved, const DatasetSplits& data, const RunOptions& options, RunControl& control,
             EventLog& events)
        : m_resolved(resolved), m_data(data), m_options(options), m_control(control), m_events(events) {}

    RunResult run() {
        if (m_data.validation) {  // said before hours of training
            if (const auto test = asAsked(m_data, AskedSplit::Test, m_data.train->info(), dataName(m_resolved.spec));
                !test.ok())
                throw ProblemError(test.problems().front());
        }
        for (const Problem& remark : m_data.remarks) m_events.post(Message{"warning", remark});
        for (const Problem& note : m_data.notes) m_events.post(Message{"info", note});
        if (m_resolved.choosesPrecision() && !choosePrecision()) return stoppedBefore();
        tellOfOtherPrecision();
        for (;;) {
            if (auto result = runWorld()) return *result;
            m_options.resumeFrom = *m_continuation.snapshot;
            m_continuation.next = {};
            beginAttempt();
            if (m_change) m_events.post(*std::exchange(m_change, std::nullopt));
        }
    }

private:
    // Once in a trial's life: it goes on in what it began with. A measurement is not the same every time. False: a stop
    // came before it was over.
    bool choosePrecision() {
        TrialSpec& spec = m_resolved.spec;
        const auto known = m_options.resumeFrom ? precisionOf(m_options.resumeFrom->spec.precision) : std::nullopt;
        if (known && m_resolved.backend->offers(*known)) {  // it may go on elsewhere
            spec.precision = text(*known);
            m_events.post(Message{"info", {"precision", "run.precision-kept", {spec.precision}}});
            return true;
        }
        if (!spec.reproducible()) {  // which takes long: the attempt has begun with it
            const Problem words{"precision", kPrecisionMeasured, {std::to_string(m_options.attempt)}};
            m_events.post(Message{"info", words});
        }
        const ModelInput input = modelInput(*m_resolved.model, m_data.train->info(), spec.batch, spec.labelSmoothing);
        try {
            const auto chosen = lockstep::choosePrecision(m_resolved, input, {.stop = m_control.stopToken()});
            m_events.post(Message{"info", chosen->words});
        } catch (const ProblemError& error) {
            if (error.problem().code != kBenchStopped) throw;
            return false;
        }
        return true;
    }

    // A run that comes to no step of its own: all is as its checkpoint left it.
    RunResult stoppedBefore() {
        RunFinished end{.outcome = "stopped", .trial = m_options.trial};
        end.testAccuracy = end.testLoss = end.bestAccuracy = std::numeric_limits<double>::quiet_NaN();
        if (const auto& from = m_options.resumeFrom) {
            end.step = from->step;
            end.epoch = from->epoch + (from->stepInEpoch > 0 ? 1 : 0);
            end.seconds = from->trainSeconds;
        }
        m_events.post(StateChanged{"stopping", end.step});
        return finished(end, m_events);
    }

    void tellOfPrecision(const Program& program) {
        if (std::exchange(m_toldOfPrecision, true)) return;
        if (const auto remark = precisionRemark(m_resolved, program)) m_events.post(Message{"warning", *remark});
    }

    void tellOfOtherPrecision() {
        if (!m_options.resumeFrom) return;
        const std::string &before = m_options.resumeFrom->spec.precision, &now = m_resolved.spec.precision;
        if (before != now) m_events.post(Message{"warning", {"precision", "run.precision-changed", {before, now}}});
    }

    // Empty: another world follows.
    std::optional<RunResult> runWorld() {
        const DatasetInfo &train = m_data.train->info(), &choosing = m_data.choosing()->info();
        const RunPlan plan = planRun(m_resolved, train, choosing, AlgorithmChoice::Timed);
        tellOfPrecision(*plan.ranks.front().training);
        if (m_options.onPlan) m_options.onPlan(plan);
        if (auto problem = shortOfMemory(m_resolved, plan, train, choosing)) throw ProblemError(std::move(*problem));
        if (!std::exchange(m_lookedAtDisk, true)) requireDisk(plan);
        std::vector<RankTimes> times(m_resolved.devices.size());
        const RunContext context{m_resolved, m_data, plan,           m_options, m_control,
                                 m_events,   times,  m_continuation, m_bad};
        const auto group = makeGroup(m_resolved);
        std::vector<std::unique_ptr<Worker>> workers;
        std::vector<RankTask*> tasks;
        for (const auto& endpoint : group) {
            tasks.push_back(workers.emplace_back(std::make_unique<Worker>(context, *endpoint)).get());
        }
        const auto stepOf = [&](int rank) { return workers[static_cast<std::size_t>(std::max(rank, 0))]->step(); };
        AbortCause cause = runRanks(tasks, group, watch(stepOf));
        if (cause.kind == text(EngineError::Kind::OutOfMemory))
            cause.what += "; " + memoryText(m_resolved, plan, cause.rank);
        const std::int64_t reached = stepOf(cause.rank);
        if (m_saidLast) return asResult(failureOf(cause, reached));
        if (cause.rank >= 0) return afterFailure(failureOf(cause, reached), isLostDevice(cause));
        if (m_continuation.next.kind != NextWorld::Kind::None) return afterLeaving(reached);
        RunFinished end = workers.front()->finished();
        try {
            if (m_data.validation && end.outcome == "finished" && newest()) judge(end);
        } catch (...) {
            return failed(failureOf(currentCause(-1), end.step), m_events);
        }
        return finished(end, m_events);
    }

    // Once, at the end: what chose among the epochs says too much good of the chosen one. The model is the best epoch's
    // where its checkpoint is kept, else the last one's.
    void judge(RunFinished& end) {
        const Checkpoint chosen = chosenModel();
        const DatasetInfo& train = m_data.train->info();
        const auto test = asAsked(m_data, AskedSplit::Test, train, dataName(m_resolved.spec));
        if (!test.ok()) throw ProblemError(test.problems().front());
        EvaluateResult result = evaluate({.resolved = m_resolved,
                                          .checkpoint = chosen,
                                          .trained = train,
                                          .data = test.value(),
                                          .onStuck = onStuck([&end](int) { return end.step; })});
        for (Problem& remark : result.remarks) m_events.post(Message{"warning", std::move(remark)});
        EvalDone done = evaluationEvent(result.metrics, train.classes.size());
        done.step = result.counts.step = chosen.step;
        done.epoch = result.counts.epoch = chosen.epoch;
        done.seconds = end.seconds;
        done.trainLoss = done.trainAccuracy = std::numeric_limits<double>::quiet_NaN();
        m_events.post(done);
        if (result.counts.classes > 0) m_events.post(result.counts);
        end.testAccuracy = done.accuracy;
        end.testLoss = done.loss;
    }

    // Null: nothing was kept.
    const Checkpoint* newest() const {
        if (m_continuation.snapshot) return m_continuation.snapshot.get();
        return m_options.resumeFrom ? &*m_options.resumeFrom : nullptr;
    }

    Checkpoint chosenModel() const {
        const std::filesystem::path& folder = m_options.checkpointFolder;
        const std::string best = folder.empty() ? std::string() : bestRole(findCheckpoints(folder));
        if (best.empty()) return *newest();
        auto checkpoint = readCheckpoint(folder / checkpointName(best));
        if (!checkpoint.ok()) throw ProblemError(checkpoint.problems().front());
        return std::move(checkpoint).value();
    }

    // Once: a disk that fills later is no reason to end a run that goes on with other devices.
    void requireDisk(const RunPlan& plan) {
        if (m_options.checkpointFolder.empty()) return;
        const auto room = diskRoom(m_options.checkpointFolder);
        if (!room) return;
        const DiskNeed need = diskNeed(m_resolved, plan);
        if (auto problem = shortOfDisk(need, *room)) throw ProblemError(std::move(*problem));
        if (auto words = heavyOnDisk(need, *room)) m_events.post(Message{"info", std::move(*words)});
    }

    void beginAttempt() {
        ++m_options.attempt;
        if (!m_options.beginAttempt) return;
        const Attempt attempt = m_options.beginAttempt(m_continuation.snapshot->step);
        m_options.attempt = attempt.number;
        m_options.trace = attempt.trace;
    }

    Watch watch(const std::function<std::int64_t(int)>& stepOf) {
        return {.timeout = m_resolved.spec.timeout,
                .isHeld = [this] { return m_control.paused(); },
                .onStuck = onStuck(stepOf)};
    }

    decltype(Watch::onStuck) onStuck(const std::function<std::int64_t(int)>& stepOf) {
        if (!m_options.onStuck) return {};
        return [this, stepOf](const AbortCause& cause, const std::vector<int>&) {
            const RunFailed failure = failureOf(cause, stepOf(cause.rank));
            m_events.post(failure);
            m_saidLast = true;
            m_options.onStuck(failure);
        };
    }

    std::optional<RunResult> afterFailure(const RunFailed& failure, bool lostDevice) {
        const bool goesOn = lostDevice && m_resolved.spec.onLostDevice == "continue" && m_continuation.snapshot &&
                            m_resolved.devices.size() > 1;
        if (!goesOn) return failed(failure, m_events);
        removeDevice(failure.rank);
        announce("lost-device", failure.rank, failure.step, failure.what);
        return std::nullopt;
    }

    std::optional<RunResult> afterLeaving(std::int64_t reached) {
        const NextWorld& next = m_continuation.next;
        switch (next.kind) {
            case NextWorld::Kind::None: break;
            case NextWorld::Kind::Scaled: return afterScaling(next.devices, reached);
            case NextWorld::Kind::Balanced:
                m_resolved.shares = next.shares;
                announce("balanced", -1, reached, textOfShares(next.shares));
                break;
            case NextWorld::Kind::Diverged: return afterDivergence(next, reached);
        }
        return std::nullopt;
    }

    std::optional<RunResult> afterScaling(int devices, std::int64_t reached) {
        auto scaled = m_options.scale ? m_options.scale(devices)
                                      : Result<ResolvedSpec>(Problem{"devices", "run.cannot-scale", {}});
        if (scaled.ok()) {
            const std::string precision = m_resolved.spec.precision;
            m_resolved = std::move(scaled).value();
            m_resolved.spec.precision = precision;
            announce("scaled", -1, reached, "");
        } else {
            for (const Problem& problem : scaled.problems()) m_events.post(Message{"warning", problem});
        }
        return std::nullopt;
    }

    // The same devices get another try from what they agreed on. One that differs again before the next passed check is
    // taken for lost.
    std::optional<RunResult> afterDivergence(const NextWorld& next, std::int64_t reached) {
        RunFailed failure{std::string(text(EngineError::Kind::Device)), "replica check", next.what, next.rank, reached};
        const std::shared_ptr<const Checkpoint> snapshot = m_continuation.snapshot;
        if (!snapshot || m_resolved.spec.onLostDevice == "stop") return failed(std::move(failure), m_events);
        if (m_divergedFrom == snapshot->step) return afterFailure(failure, next.rank >= 0);
        m_divergedFrom = snapshot->step;
        announce("diverged", next.rank, reached, next.what);
        return std::nullopt;
    }

    // In a reproducible run the devices that remain must divide the shards; its bits do not depend on how many they
    // are.
    void removeDevice(int rank) {
        const auto at = [rank](auto& list) { return list.begin() + rank; };
        m_resolved.devices.erase(at(m_resolved.devices));
        if (!m_resolved.shares.empty()) m_resolved.shares.erase(at(m_resolved.shares));
        if (!m_resolved.spec.reproducible()) return;
        const auto shards = static_cast<std::size_t>(m_resolved.spec.shards);
        while (shards % m_resolved.devices.size() != 0) m_resolved.devices.pop_back();
    }

    void announce(std::string reason, int rank, std::int64_t reached, std::string what) {
        WorldChanged change{std::move(reason), m_continuation.snapshot->step, reached, rank, std::move(what), {}};
        for (const DeviceChoice& device : m_resolved.devices) change.devices.push_back(device.id);
        m_change = std::move(change);
    }

    ResolvedSpec m_resolved;
    const DatasetSplits& m_data;
    RunOptions m_options;
    RunControl& m_control;
    EventLog& m_events;
    Continuation m_continuation;
    BadSamples m_bad;
    std::optional<WorldChanged> m_change;  // to be said as the first word of the attempt that follows
    std::int64_t m_divergedFrom = -1;
    bool m_saidLast = false, m_lookedAtDisk = false, m_toldOfPrecision = false;
};

}  // namespace

RunResult runTrial(const ResolvedSpec& resolved, const DatasetSplits& data, const RunOptions& options,
                   RunControl& control, const std::vector<EventSink*>& sinks) {
    EventLog events(sinks, options.firstEventNumber);
    try {
        return TrialRun(resolved, data, options, control, events).run();
    } catch (...) {
        return failed(failureOf(currentCause(-1), 0), events);
    }
}

}  // namespace lockstep
