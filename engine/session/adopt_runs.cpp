#include "engine/session/adopt_runs.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/core/error.h"
#include "engine/core/utc_time.h"
#include "engine/history/run_folders.h"
#include "engine/session/lease.h"
#include "engine/session/run_log.h"
#include "engine/spec/kept_checkpoints.h"
#include "engine/train/checkpoint.h"
#include "engine/train/trained_on.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

fs::path specFile(const fs::path& run) { return run / "spec.json"; }

std::string timeOf(const fs::path& file) {
    const auto written = std::chrono::file_clock::to_sys(fs::last_write_time(file));
    return utcText(std::chrono::time_point_cast<std::chrono::system_clock::duration>(written));
}

bool isLastWord(const TrainEvent& event) {
    return std::holds_alternative<RunFinished>(event) || std::holds_alternative<RunFailed>(event);
}

// The attempts that a log tells of. One ends with a last word, or where the next run or world starts.
class Attempts {
public:
    void add(const LoggedEvent& logged) {
        const TrainEvent& event = logged.event.event;
        const auto* started = std::get_if<RunStarted>(&event);
        const auto* changed = std::get_if<WorldChanged>(&event);
        if (m_ended || changed || (started && m_started)) begin(logged.time);
        auto& attempt = m_attempts.back();
        if (started) attempt.fromStep = started->firstStep;
        if (changed) attempt.fromStep = changed->step;
        m_started = m_started || started;
        m_ended = isLastWord(event);
        const bool inOrder = attempt.events.empty() || attempt.events.back().number < logged.event.number;
        if (inOrder) attempt.events.push_back(logged.event);
    }
    std::vector<AdoptedTrial::Attempt> take() { return std::move(m_attempts); }

private:
    void begin(const std::string& time) {
        m_attempts.push_back({0, time, {}});
        m_started = false;
    }

    std::vector<AdoptedTrial::Attempt> m_attempts;
    bool m_ended = true, m_started = false;
};

RunState stateAfter(const TrainEvent& event) {
    if (std::holds_alternative<RunFailed>(event)) return RunState::Failed;
    const auto* finished = std::get_if<RunFinished>(&event);
    return finished ? runStateFrom(finished->outcome).value_or(RunState::Stopped) : RunState::Crashed;
}

class Adoption {
public:
    explicit Adoption(fs::path run) : m_run(std::move(run)) {}

    AdoptedTrial trial(std::int64_t id) {
        m_trial.id = id;
        readPositions();
        readSpec();
        readLog();
        return std::move(m_trial);
    }

private:
    // A checkpoint that cannot be read is no reason to forget the trial, as long as something says what it was.
    void readPositions() {
        for (const auto& each : checkpointsIn(m_run / "checkpoints")) {
            const fs::path file = m_run / "checkpoints" / checkpointName(each.role);
            auto position = readCheckpointPosition(file);
            if (!position.ok()) {
                m_problem = position.problems().front();
            } else if (!m_newest || position.value().step > m_newest->step) {
                m_newest = std::move(position).value();
                m_trial.finishedAt = timeOf(file);
            }
        }
        if (!m_newest) return;
        m_trial.step = m_newest->step;
        m_trial.epoch = m_newest->epoch + (m_newest->stepInEpoch > 0 ? 1 : 0);
        if (m_newest->bestAccuracy >= 0) m_trial.bestAccuracy = m_newest->bestAccuracy;
        m_trial.lowestLoss = m_newest->lowestLoss;
        m_trial.seconds = m_newest->trainSeconds;
        m_trial.known = knownBy(*m_newest);
    }

    void readSpec() {
        const fs::path file = specFile(m_run);
        if (fs::exists(file)) {
            const auto spec = trialSpecFromFile(file);
            if (spec.ok()) m_trial.spec = spec.value();
            else if (!m_newest) throw ProblemError(spec.problems().front());
            else m_trial.spec = m_newest->spec;
            m_trial.createdAt = timeOf(file);
        } else if (m_newest) {
            m_trial.spec = m_newest->spec;
            m_trial.createdAt = m_trial.finishedAt;
        } else {
            throw ProblemError(m_problem.value_or(Problem{m_run.string(), "run.nothing-to-import", {}}));
        }
        if (m_trial.finishedAt.empty()) m_trial.finishedAt = m_trial.createdAt;
    }

    void readLog() {
        const auto log = readRunLog(m_run / "run.log");
        Attempts attempts;
        for (const auto& each : log) attempts.add(each);
        m_trial.attempts = attempts.take();
        if (log.empty()) {
            m_trial.attempts.push_back({0, m_trial.createdAt, {}});
            if (m_newest && m_newest->epoch >= m_trial.spec.epochs) m_trial.state = RunState::Finished;
            return;
        }
        m_trial.state = stateAfter(log.back().event.event);
        m_trial.createdAt = log.front().time;
        m_trial.finishedAt = log.back().time;
    }

    const fs::path m_run;
    AdoptedTrial m_trial;
    std::optional<Checkpoint> m_newest;
    std::optional<Problem> m_problem;
};

}  // namespace

std::vector<std::int64_t> orphanedRuns(const TrialQuery& query, const Places& places) {
    auto trials = runFolders(places.runs());
    std::erase_if(trials, [&](std::int64_t trial) { return query.find(trial) || !holdsTrial(places.run(trial)); });
    return trials;
}

std::optional<Problem> adoptRun(TrialStore& store, const Places& places, std::int64_t trial) {
    try {
        const fs::path run = places.run(trial);
        if (!holdsTrial(run)) return Problem{run.string(), "run.nothing-to-import", {}};
        const auto lease = Lease::tryAcquire(places.lease(trial));
        if (!lease) return Problem{"", "run.busy", {std::to_string(trial)}};
        store.adoptTrial(Adoption(run).trial(trial), run);
        return std::nullopt;
    } catch (const ProblemError& error) {
        return error.problem();
    } catch (const EngineError& error) {
        return Problem{error.where(), "home.unwritable", {error.what()}};
    } catch (const fs::filesystem_error& error) {
        return Problem{error.path1().string(), "home.unwritable", {error.code().message()}};
    }
}

}  // namespace lockstep
