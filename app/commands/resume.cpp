#include <fmt/format.h>

#include <memory>

#include "app/commands/commands.h"
#include "app/history_access.h"
#include "app/train_run.h"

namespace lockstep {

namespace {

struct ResumeOptions {
    std::int64_t trial = 0;
    Output output;
    ChangedData changedData = ChangedData::Refuse;
    std::int64_t untilEpoch = 0;
    bool mayStartAgain = false;
    std::optional<std::int64_t> attempt;
};

int sayThatItGoesOn(std::int64_t trial, bool json) {
    if (json) {
        fmt::print("{{\"resumed\":true,\"trial\":{}}}\n", trial);
        return kDone;
    }
    fmt::print("Trial {} was paused and goes on in its own process; follow it with: lockstep attach {}\n", trial,
               trial);
    return kDone;
}

int resume(Context& context, const ResumeOptions& options) {
    auto trials = openTrials();
    const auto onWait = [&] {
        if (options.output.json) return;
        fmt::print("Waiting for the process that still has trial {} to end.\n", options.trial);
        std::fflush(stdout);
    };
    const bool mayBePaused = !options.attempt;  // by a person, who lets it go on
    if (mayBePaused && trials.goOnInPlace(options.trial, onWait))
        return sayThatItGoesOn(options.trial, options.output.json);
    trials.close();  // the run writes through a store of its own
    return watchRun(context, options.output, options.untilEpoch, [&](const Watcher& watcher) {
        return runFromHistory({options.trial, true, options.changedData, options.mayStartAgain, options.attempt},
                              watcher, context.environment());
    });
}

}  // namespace

void addResume(CLI::App& program, Run& run) {
    const auto options = std::make_shared<ResumeOptions>();
    auto* command =
        program.add_subcommand("resume", "Go on with a stopped, failed or crashed trial from its last checkpoint");
    addTrialOption(*command, options->trial);
    addOutputOptions(*command, options->output);
    addUntilEpochOption(*command, options->untilEpoch);
    command->add_flag("--start-again", options->mayStartAgain,
                      "Where its checkpoints are gone or damaged: go on from what is left of them, or train it anew");
    command->add_option("--attempt", options->attempt, "Only as the trial's attempt N, as the queue goes on with it")
        ->type_name("N")
        ->check(CLI::PositiveNumber);
    addChangedDataOption(*command, options->changedData);
    command->footer("\nA paused trial goes on in the process that runs it.\n\nExample:\n  lockstep resume 7");
    command->callback([options, &run] { run = [options](Context& context) { return resume(context, *options); }; });
}

}  // namespace lockstep
