#include <fmt/format.h>

#include <memory>

#include "app/commands/commands.h"
#include "app/follow.h"
#include "app/history_access.h"

namespace lockstep {

namespace {

struct StopOptions {
    std::int64_t trial = 0;
    bool afterEpoch = false, wait = false;
};

int stop(Context&, const StopOptions& options) {
    auto trials = openTrials();
    const auto done = trials.control(options.trial, {options.afterEpoch ? "stop-after-epoch" : "stop"});
    if (done == TrialService::Controlled::Cancelled) {
        fmt::print("Trial {} had not begun and is cancelled.\n", options.trial);
        return kDone;
    }
    fmt::print("Trial {} stops after the current {}, with a checkpoint if it has begun to train.\n", options.trial,
               options.afterEpoch ? "epoch" : "step");
    if (!options.wait) return kDone;
    std::fflush(stdout);
    followTrial(trials.places(), options.trial, [](const NumberedEvent&) {});
    fmt::print("It has ended: {}.\n", trials.row(options.trial).state);
    return kDone;
}

int pause(Context&, std::int64_t trial) {
    openTrials().control(trial, {"pause"});
    fmt::print("Trial {} pauses after the current step; lockstep resume {} lets it go on.\n", trial, trial);
    return kDone;
}

}  // namespace

void addStop(CLI::App& program, Run& run) {
    const auto options = std::make_shared<StopOptions>();
    auto* command = program.add_subcommand(
        "stop", "Stop a running trial with a checkpoint, from which resume goes on; or cancel a queued one");
    addTrialOption(*command, options->trial);
    command->add_flag("--after-epoch", options->afterEpoch, "Let it finish its epoch first");
    command->add_flag("--wait", options->wait, "Return once it has ended");
    command->callback([options, &run] { run = [options](Context& context) { return stop(context, *options); }; });
}

void addPause(CLI::App& program, Run& run) {
    const auto trial = std::make_shared<std::int64_t>(0);
    auto* command = program.add_subcommand("pause", "Hold a running trial between two steps; resume lets it go on");
    addTrialOption(*command, *trial);
    command->callback([trial, &run] { run = [trial](Context& context) { return pause(context, *trial); }; });
}

}  // namespace lockstep
