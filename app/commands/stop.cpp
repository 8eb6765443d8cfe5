#include <fmt/format.h>

#include <memory>

#include "app/commands/commands.h"
#include "app/follow.h"

namespace lockstep {

namespace {

struct Options {
    std::int64_t trial = 0;
    bool afterEpoch = false, wait = false;
};

int stop(Context&, const Options& options) {
    const auto history = openHistory();
    sendControl(history, options.trial, {options.afterEpoch ? "stop-after-epoch" : "stop"});
    fmt::print("Trial {} stops after the current {}, with a checkpoint.\n", options.trial,
               options.afterEpoch ? "epoch" : "step");
    if (!options.wait) return kDone;
    std::fflush(stdout);
    followTrial(history, options.trial, [](const NumberedEvent&) {});
    fmt::print("It has ended: {}.\n", rowOf(history, options.trial).state);
    return kDone;
}

int pause(Context&, std::int64_t trial) {
    const auto history = openHistory();
    sendControl(history, trial, {"pause"});
    fmt::print("Trial {} pauses after the current step; lockstep resume {} lets it go on.\n", trial, trial);
    return kDone;
}

}  // namespace

void addStop(CLI::App& program, Run& run) {
    const auto options = std::make_shared<Options>();
    auto* command = program.add_subcommand("stop", "Stop a running trial with a checkpoint; resume goes on from there");
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
