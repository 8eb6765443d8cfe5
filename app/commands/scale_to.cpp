#include <fmt/format.h>

#include <memory>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/history_access.h"

namespace lockstep {

namespace {

struct ScaleToOptions {
    std::int64_t trial = 0;
    int devices = 0;
};

int scaleTo(const ScaleToOptions& options) {
    openTrials().control(options.trial, {"scale-to", options.devices});
    fmt::print("Trial {} goes on with {} after the current step, with the same batch.\n", options.trial,
               plural(options.devices, "device"));
    return kDone;
}

int balance(std::int64_t trial) {
    openTrials().control(trial, {"balance"});
    fmt::print("Trial {} divides its batch anew, as the measured step times of its devices ask for.\n", trial);
    return kDone;
}

}  // namespace

void addScaleTo(CLI::App& program, Run& run) {
    const auto options = std::make_shared<ScaleToOptions>();
    auto* command = program.add_subcommand("scale-to", "Go on with more or fewer devices, from the next step on");
    addTrialOption(*command, options->trial);
    command->add_option("devices", options->devices, "How many devices, of the kind that the trial uses")
        ->required()
        ->check(CLI::Range(1, 256));
    command->footer("\nExample:\n  lockstep scale-to 7 4");
    command->callback([options, &run] { run = [options](Context&) { return scaleTo(*options); }; });
}

void addBalance(CLI::App& program, Run& run) {
    const auto trial = std::make_shared<std::int64_t>(0);
    auto* command = program.add_subcommand(
        "balance", "Give faster devices of a running trial more of each batch, slower ones less");
    addTrialOption(*command, *trial);
    command->callback([trial, &run] { run = [trial](Context&) { return balance(*trial); }; });
}

}  // namespace lockstep
