#pragma once
#include "app/context.h"
#include "app/plain_run.h"
#include "app/run_printer.h"
#include "app/spec_options.h"

namespace lockstep {

// How a run is told to whoever started it: for a person, or as JSON lines, with or without those of the steps.
struct Output {
    bool json = false, withoutSteps = false;
};
void addOutputOptions(CLI::App& command, Output& output);  // --json, --no-steps

// --until-epoch; 0: to the trial's end
CLI::Option* addUntilEpochOption(CLI::App& command, std::int64_t& epoch);

// --changed-data
CLI::Option* addChangedDataOption(CLI::App& command, ChangedData& changed);

// With the file that --weights means by the number of a trial: its best, or its last where it keeps no best. Problems:
// those of checkpointFile().
Result<SpecOptions> withWeights(SpecOptions options);

// What a run needs of the one who watches it: Ctrl+C reaches `control`; `onStuck` prints what is left and ends the
// process.
struct Watcher {
    RunControl& control;
    EventSink& terminal;
    std::function<void(const RunFailed&)> onStuck;
};

// Prints a run while `start` runs it, stops it on Ctrl+C or when the reader of the output has gone, and turns its end
// into an exit status. An output that cannot be written otherwise is noted in the run's events, and the run goes on.
using StartRun = std::function<Result<RunResult>(const Watcher& watcher)>;
int watchRun(Context& context, const Output& output, std::int64_t untilEpoch, const StartRun& start);

int exitStatusOf(const RunResult& result);
int exitStatusOf(const RunFailed& failed);

// Makes a trial of the spec and runs it; one that is refused before it starts leaves nothing. In a build without a
// history: a plain run. One implementation per kind of build.
bool hasHistory();
Result<RunResult> runIntoHistory(const TrialSpec& spec, const Watcher& watcher, const Environment& environment);

// Makes a trial of the spec, for the queue to run. Problems: those of validate().
Result<std::int64_t> addToQueue(const TrialSpec& spec, const Environment& environment);

// Runs a trial of the history: a queued one from its beginning, or one that has ended from its last checkpoint. Only in
// a build that has a history. Throws ProblemError "trial.unknown".
struct HistoryRun {
    std::int64_t trial = 0;
    bool resume = false;
    ChangedData changedData = ChangedData::Refuse;
    bool mayStartAgain = false;                // where its checkpoints are gone or damaged
    std::optional<std::int64_t> attempt = {};  // that this must become
};
Result<RunResult> runFromHistory(const HistoryRun& run, const Watcher& watcher, const Environment& environment);

}  // namespace lockstep
