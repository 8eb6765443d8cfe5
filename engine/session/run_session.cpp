#include "engine/session/run_session.h"

#include <functional>
#include <map>
#include <set>
#include <utility>

#include "engine/core/durable_file.h"
#include "engine/core/error.h"
#include "engine/session/run_log.h"
#include "engine/session/session_server.h"
#include "engine/session/trace_recorder.h"
#include "engine/spec/devices.h"
#include "engine/spec/kept_checkpoints.h"
#include "engine/spec/shares.h"
#include "engine/train/trained_on.h"
#include "engine/train/weights.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

// Throws the problems of a failed Result (the first of them, where only one can be thrown).
template <class T>
T required(Result<T> result) {
    if (!result.ok()) throw ProblemError(result.problems().front());
    return std::move(result).value();
}

// What `work` returns, or the problem that it ends with.
template <class Work>
std::vector<Problem> problemsIn(Work&& work) {
    try {
        return work();
    } catch (const ProblemError& error) {
        return {error.problem()};
    } catch (const EngineError& error) {
        return {{error.where(), "home.unwritable", {error.what()}}};
    } catch (const fs::filesystem_error& error) {
        return {{error.path1().string(), "home.unwritable", {error.code().message()}}};
    }
}

// Whether the run has said its first and its last word, and the number that would come next.
class Milestones : public EventSink {
public:
    explicit Milestones(std::int64_t first) : m_next(first) {}
    void post(std::int64_t number, const TrainEvent& event) override {
        m_next = number + 1;
        m_started = m_started || std::holds_alternative<RunStarted>(event);
        m_said = std::holds_alternative<RunFinished>(event) || std::holds_alternative<RunFailed>(event);
    }
    std::int64_t next() const { return m_next; }
    bool said() const { return m_said; }
    bool started() const { return m_started; }

private:
    std::int64_t m_next;
    bool m_said = false, m_started = false;
};

// The history's sink of whichever attempt is under way. An evaluation is committed before the trainer goes on to the
// checkpoint behind it: whoever resumes from there finds it.
class AttemptSink : public EventSink {
public:
    void begin(std::shared_ptr<EventSink> attempt, TrialStore& store) {  // between two worlds
        m_attempt = std::move(attempt);
        m_store = &store;
    }
    void post(std::int64_t number, const TrainEvent& event) override {
        m_attempt->post(number, event);
        if (std::holds_alternative<EvalDone>(event)) m_store->flush();
    }

private:
    std::shared_ptr<EventSink> m_attempt;
    TrialStore* m_store = nullptr;
};

RunState outcomeOf(const RunResult& result) {
    switch (result.outcome) {
        case RunResult::Outcome::Finished: return RunState::Finished;
        case RunResult::Outcome::Stopped: return RunState::Stopped;
        case RunResult::Outcome::Failed: break;
    }
    return RunState::Failed;
}

class Session {
public:
    Session(const SessionRequest& request, const Environment& environment, const Places& places)
        : m_request(request),
          m_environment(environment),
          m_places(places),
          m_trial(request.trial),
          m_control(request.control ? *request.control : m_ownControl) {}

    Result<SessionResult> run() {
        m_store = required(TrialStore::open(m_places.history()));
        m_store->onTrouble([this](const Problem& problem) { tell(problem); });
        const TrialSpec spec = claim();
        auto problems = problemsIn([&] { return prepare(spec); });
        if (!problems.empty()) {
            if (!m_request.resume) endRefused(problems);
            return problems;
        }
        beginAttempt();
        RunResult result = runToTheEnd();
        return SessionResult{std::move(result), m_milestones->started()};
    }

private:
    // The trial is ours: its lease is held, and of one that is resumed the checkpoint is read.
    TrialSpec claim() {
        const auto query = required(TrialQuery::open(m_places.history()));
        TrialSpec spec = required(query->spec(m_trial));
        requireFolder(m_places.run(m_trial));
        m_lease = Lease::tryAcquire(m_places.lease(m_trial));
        if (!m_lease) throw ProblemError({"", "run.busy", {std::to_string(m_trial)}});
        const TrialRow row = *query->find(m_trial);
        m_state = runStateFrom(row.state).value_or(RunState::Crashed);
        if (m_request.resume) {
            requireAttempt(row.attempts + 1);
            claimForResume(*query, row.attempts > 0);
            m_firstEvent = query->lastEvent(m_trial) + 1;
        } else {
            if (m_state != RunState::Queued) refuseState("run.not-queued");
            advance(RunSignal::Prepare);
        }
        return spec;
    }

    // Histories that were moved, restored or copied may give one number to two trials. The folder says whose it is;
    // title, devices and shares are all that may have changed since.
    void requireOwnFolder() const {
        const auto own = trialSpecFromFile(m_places.run(m_trial) / "spec.json");
        if (!own.ok()) return;  // lost or of no use: the checkpoint's tensors tell
        const auto lasting = [](TrialSpec spec) {
            spec.title = spec.devices = spec.shares = "";
            return spec;
        };
        if (lasting(own.value()) == lasting(m_spec)) return;
        throw ProblemError({m_places.run(m_trial).string(), "run.folder-of-another", {std::to_string(m_trial)}});
    }

    void requireAttempt(std::int64_t next) const {
        const std::int64_t asked = m_request.attempt.value_or(next);
        if (asked == next) return;
        throw ProblemError(
            {"", "run.other-attempt", {std::to_string(m_trial), std::to_string(next), std::to_string(asked)}});
    }

    // Its lease was free, so nobody runs it, whatever its row says. Between the two states of a new attempt it is
    // queued for a moment: an end in between leaves it so.
    void claimForResume(const TrialQuery& query, bool hasBegun) {
        if (!isFinal(m_state) && hasBegun) advance(RunSignal::Crash);
        if (!next(m_state, RunSignal::Attempt)) refuseState("run.not-resumable");
        m_checkpoint = newestCheckpoint();
        if (!m_checkpoint && !m_request.mayStartAgain && query.wroteCheckpoint(m_trial))
            throw ProblemError(noCheckpoint());
        if (!m_checkpoint) tell({"", "run.starts-again", {std::to_string(m_trial)}});
    }

    Problem noCheckpoint() const {
        const std::string trial = std::to_string(m_trial);
        const auto freed = checkpointsFreedAt(checkpoints());
        if (freed) return {checkpoints().string(), "run.checkpoints-freed", {trial, *freed}};
        return {checkpoints().string(), "run.no-checkpoint", {trial}};
    }

    [[noreturn]] void refuseState(const char* code) const {
        throw ProblemError({"", code, {std::to_string(m_trial), std::string(text(m_state))}});
    }

    // What keeps the run from its first step; empty: all that it needs is open, and its devices are ours.
    std::vector<Problem> prepare(const TrialSpec& spec) {
        auto resolved = resolve(spec, m_environment);
        if (!resolved.ok()) return resolved.problems();
        m_resolved = std::move(resolved).value();
        m_spec = m_resolved->spec;
        listenEarly();
        auto data = openData(*m_resolved, m_control, watchers());
        if (!data.ok()) return data.problems();
        m_data = std::move(data).value();
        if (m_request.resume) requireOwnFolder();
        auto problems = m_checkpoint ? compareData(*m_checkpoint, *m_resolved, m_request.changedData, *m_data)
                                     : weightsProblems(*m_resolved, m_data->train->info());
        if (!problems.empty()) return problems;
        leaseDevices();
        if (m_spec != spec) m_store->setSpec(m_trial, m_spec);
        return {};
    }

    // Data may take long to read: who follows the trial hears how far they are, and may stop it. What fails here is
    // told of when the run directory is opened.
    void listenEarly() {
        auto server = listen();
        if (server.ok()) m_server = std::move(server).value();
    }

    Result<std::unique_ptr<SessionServer>> listen() {
        return SessionServer::listen(m_places.socket(m_trial), m_trial,
                                     {[this](const ControlCommand& command) { return applyControl(command); }});
    }

    std::vector<EventSink*> watchers() const {
        auto sinks = m_request.extraSinks;
        if (m_server) sinks.push_back(m_server.get());
        return sinks;
    }

    // Whoever made the row may be gone: it says why nothing came of it.
    void endRefused(const std::vector<Problem>& problems) {
        if (isCancelled(problems)) return advance(RunSignal::Cancel);
        const RunFailed failure = failureFrom(problems.front());
        m_attempt = m_store->beginAttempt(m_trial, 0);
        m_store->sinkFor(m_trial, m_attempt)->post(m_firstEvent, failure);
        settle(failed(failure));
    }

    // An epoch's best is written before its last: of a run that was killed between the two, the best goes further, or
    // is all there is.
    std::optional<Checkpoint> newestCheckpoint() {
        const fs::path last = checkpoints() / checkpointName(kLast);
        std::optional<Checkpoint> newest;
        if (fs::exists(last)) newest = usable(readCheckpoint(last));
        std::multimap<std::int64_t, fs::path, std::greater<>> further;  // by their steps
        for (const auto& each : checkpointsIn(checkpoints())) {
            const fs::path file = checkpoints() / checkpointName(each.role);
            if (file == last || (newest && fs::last_write_time(file) <= fs::last_write_time(last))) continue;
            const auto position = usable(readCheckpointPosition(file));
            if (position && (!newest || position->step > newest->step)) further.emplace(position->step, file);
        }
        for (const auto& [step, file] : further)
            if (auto whole = usable(readCheckpoint(file))) return whole;
        return newest;
    }

    // Empty: it is damaged, and the trial may go on without it.
    std::optional<Checkpoint> usable(Result<Checkpoint> read) {
        if (read.ok() || !m_request.mayStartAgain) return required(std::move(read));
        const Problem& damage = read.problems().front();
        m_control.note({damage.field, "run.damaged-checkpoint", {std::to_string(m_trial)}});
        return std::nullopt;
    }

    // CPUs are shared by nature; a GPU belongs to one run at a time, however many of its ranks use it.
    void leaseDevices() {
        std::set<int> cards;
        for (const auto& device : m_resolved->devices) {
            if (device.backend == "cuda") cards.insert(device.index);
        }
        for (const int card : cards) {
            const std::string index = std::to_string(card);
            auto lease = Lease::tryAcquire(m_places.runtime / ("device-cuda-" + index + ".lease"));
            if (!lease) throw ProblemError({"devices", "device.busy", {"cuda:" + index}});
            m_deviceLeases.push_back(std::move(*lease));
        }
    }

    void beginAttempt() {
        if (m_request.resume) advance(RunSignal::Attempt);
        m_attempt = m_store->beginAttempt(m_trial, m_checkpoint ? m_checkpoint->step : 0);
        m_store->setKnown(m_trial, {trainedOnText(m_data->train->info()), m_data->fingerprint});
        if (m_request.resume) advance(RunSignal::Prepare);
    }

    RunResult runToTheEnd() {
        m_history.begin(m_store->sinkFor(m_trial, m_attempt), *m_store);
        m_milestones.emplace(m_firstEvent);
        m_sinks = {&*m_milestones, &m_history};
        m_sinks.insert(m_sinks.end(), m_request.extraSinks.begin(), m_request.extraSinks.end());
        RunResult result;
        try {
            openRunDirectory();
            m_sinks.push_back(m_server.get());
            m_sinks.push_back(m_log.get());
            beginTrace();
            result = runTrial(*m_resolved, *m_data, options(), m_control, m_sinks);
        } catch (const ProblemError& error) {
            result = failed(failureFrom(error.problem()));
        } catch (const EngineError& error) {
            result = failed({std::string(text(error.kind())), error.where(), error.what(), -1, 0});
        } catch (const std::exception& error) {
            result = failed({std::string(text(EngineError::Kind::Internal)), "session", error.what(), -1, 0});
        }
        m_recorder.reset();
        if (!m_milestones->said()) post(m_milestones->next(), result.failed);
        settle(result);
        m_server.reset();
        return result;
    }

    static RunResult failed(RunFailed failure) { return {RunResult::Outcome::Failed, {}, std::move(failure)}; }

    void openRunDirectory() {
        requireFolder(checkpoints());
        replaceFile(m_places.run(m_trial) / "spec.json", toJson(m_spec));
        m_log = std::make_unique<RunLog>(m_places.run(m_trial) / "run.log");
        if (!m_server) m_server = required(listen());
    }

    std::optional<Problem> applyControl(const ControlCommand& command) {
        if (command.name == "pause") m_control.pause();
        if (command.name == "resume") return goOn();
        if (command.name == "stop") m_control.stop();
        if (command.name == "stop-after-epoch") m_control.stopAfterEpoch();
        if (command.name == "balance") {
            if (m_spec.reproducible()) return Problem{"shares", "spec.shares-of-shards", {std::string(kBalanced)}};
            m_control.balance();
        }
        if (command.name != "scale-to") return std::nullopt;
        const auto scaled = resolveFor(command.devices);
        if (!scaled.ok()) return scaled.problems().front();
        m_control.scaleTo(command.devices);
        return std::nullopt;
    }

    std::optional<Problem> goOn() {
        const std::vector<std::string> trial{std::to_string(m_trial)};
        if (m_control.stopping()) return Problem{"trial", "run.stopping", trial};
        if (!m_control.paused()) return Problem{"trial", "run.busy", trial};
        m_control.resume();
        return std::nullopt;
    }

    // The trial's spec with so many devices of the kind that it names.
    Result<ResolvedSpec> resolveFor(int devices) const {
        TrialSpec spec = m_spec;
        auto text = withDeviceCount(spec.devices, devices, m_environment.deviceRequest(spec.devices));
        if (!text.ok()) return text.problems();
        spec.devices = std::move(text).value();
        if (spec.shares != kBalanced) spec.shares.clear();  // were for another number of devices
        return resolve(spec, m_environment);
    }

    // Each attempt has its own traces.
    void beginTrace() {
        m_recorder.reset();
        m_trace = std::make_unique<TraceBoard>();
        m_recorder = std::make_unique<TraceRecorder>(m_places.trace(m_trial), m_attempt, *m_trace,
                                                     [this](const Problem& problem) { tell(problem); });
    }

    Attempt beginAttempt(std::int64_t step) {
        m_attempt = m_store->beginAttempt(m_trial, step);
        m_history.begin(m_store->sinkFor(m_trial, m_attempt), *m_store);
        beginTrace();
        return {m_attempt, m_trace.get()};
    }

    // Everything but the threads that cannot be ended is put in order.
    void leaveStuck(const RunFailed& failure) {
        m_recorder.reset();
        settle(failed(failure));
        m_server.reset();
        m_request.onStuck(failure);
    }

    RunOptions options() {
        RunOptions options;
        options.checkpointFolder = checkpoints();
        options.resumeFrom = std::move(m_checkpoint);
        options.trial = m_trial;
        options.attempt = m_attempt;
        options.firstEventNumber = m_firstEvent;
        options.trace = m_trace.get();
        options.scale = [this](int devices) { return resolveFor(devices); };
        options.beginAttempt = [this](std::int64_t step) { return beginAttempt(step); };
        if (m_request.onStuck) options.onStuck = [this](const RunFailed& failure) { leaveStuck(failure); };
        // What was chosen for this machine: algorithms, layouts, buckets. Another machine may choose otherwise.
        options.onPlan = [file = m_places.run(m_trial) / "program.txt"](const RunPlan& plan) {
            replaceFile(file, dump(*plan.ranks.front().training));
        };
        return options;
    }

    // The events have set the final state already, unless the disk refused them; trouble has been told by then, and the
    // store tries once more when it closes.
    void settle(const RunResult& result) {
        m_store->flush();
        try {
            m_store->setState(m_trial, outcomeOf(result));
        } catch (const ProblemError& error) {
            tell(error.problem());
        }
    }

    void advance(RunSignal signal) {
        const auto state = next(m_state, signal);
        if (!state)
            throw EngineError(EngineError::Kind::Internal, "session", "no way on from " + std::string(text(m_state)));
        m_store->setState(m_trial, *state);
        m_state = *state;
    }

    void post(std::int64_t number, const TrainEvent& event) {
        for (EventSink* sink : m_sinks) sink->post(number, event);
    }

    // Outside the run's numbering (number 0), and not to the history, which is the one in trouble.
    void tell(const Problem& problem) {
        const TrainEvent event = Message{"warning", problem};
        for (EventSink* sink : m_request.extraSinks) sink->post(0, event);
    }

    fs::path checkpoints() const { return m_places.run(m_trial) / "checkpoints"; }

    const SessionRequest& m_request;
    const Environment& m_environment;
    const Places& m_places;
    const std::int64_t m_trial;
    RunControl m_ownControl;
    RunControl& m_control;
    std::optional<Lease> m_lease;  // held until the store below has closed
    std::vector<Lease> m_deviceLeases;
    std::unique_ptr<RunLog> m_log;
    std::unique_ptr<TrialStore> m_store;
    std::optional<Checkpoint> m_checkpoint;
    std::vector<EventSink*> m_sinks;
    std::optional<Milestones> m_milestones;
    TrialSpec m_spec;  // with the devices named
    std::optional<ResolvedSpec> m_resolved;
    std::optional<DatasetSplits> m_data;
    AttemptSink m_history;
    std::unique_ptr<TraceBoard> m_trace;
    std::unique_ptr<TraceRecorder> m_recorder;
    std::unique_ptr<SessionServer> m_server;
    RunState m_state = RunState::Queued;
    std::int64_t m_attempt = 1, m_firstEvent = 1;
};

}  // namespace

Result<SessionResult> runSession(const SessionRequest& request, const Environment& environment, const Places& places) {
    std::optional<Result<SessionResult>> result;
    auto problems = problemsIn([&]() -> std::vector<Problem> {
        const auto prepared = preparePlaces(places);
        if (!prepared.ok()) return prepared.problems();
        result = Session(request, environment, places).run();
        return {};
    });
    if (!problems.empty()) return problems;
    return std::move(*result);
}

}  // namespace lockstep
