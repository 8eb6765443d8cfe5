#include "app/history_access.h"
#include "app/train_run.h"
#include "engine/queue/queue_service.h"
#include "engine/session/run_session.h"

namespace lockstep {

namespace {

// A run outlives whoever keeps the queue: at its end it sees to it that somebody does.
Result<SessionResult> runTrialOf(const Places& places, const HistoryRun& run, const Watcher& watcher,
                                 const Environment& environment) {
    const auto leave = [&](const RunFailed& failed) {
        keepQueueGoing(places);
        watcher.onStuck(failed);
    };
    auto result = runSession({run.trial,
                              run.resume,
                              {&watcher.terminal},
                              &watcher.control,
                              leave,
                              run.changedData,
                              run.mayStartAgain,
                              run.attempt},
                             environment, places);
    keepQueueGoing(places);
    return result;
}

Result<RunResult> runOf(Result<SessionResult> result) {
    if (!result.ok()) return result.problems();
    return std::move(result).value().run;
}

bool wasRefused(const Result<SessionResult>& result) {
    if (!result.ok()) return true;
    return !result.value().started && problemIn(result.value().run.failed);
}

}  // namespace

bool hasHistory() { return true; }

Result<RunResult> runIntoHistory(const TrialSpec& spec, const Watcher& watcher, const Environment& environment) {
    auto problems = validate(spec, environment);
    if (!problems.empty()) return problems;
    auto trials = openTrials();
    const auto trial = trials.create(spec);
    trials.close();  // the run writes through a store of its own
    auto result = runTrialOf(trials.places(), {trial}, watcher, environment);
    if (wasRefused(result)) trials.discard(trial);
    return runOf(std::move(result));
}

Result<std::int64_t> addToQueue(const TrialSpec& spec, const Environment& environment) {
    auto problems = validate(spec, environment);
    if (!problems.empty()) return problems;
    auto trials = openTrials();
    return QueueService(trials, thisProgram()).addTrial(spec);
}

Result<RunResult> runFromHistory(const HistoryRun& run, const Watcher& watcher, const Environment& environment) {
    auto trials = openTrials();
    trials.row(run.trial);  // or say that there is none
    trials.close();
    return runOf(runTrialOf(trials.places(), run, watcher, environment));
}

}  // namespace lockstep
