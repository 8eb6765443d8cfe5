#include <fmt/format.h>

#include <memory>

#include "app/commands/commands.h"
#include "app/history_access.h"

namespace lockstep {

namespace {

struct DeleteOptions {
    std::int64_t trial = 0;
    bool purge = false, restore = false;
};

int erase(Context& context, const DeleteOptions& options) {
    auto trials = openTrials();
    const auto trial = options.trial;
    if (options.restore) {
        trials.restore(trial);
        fmt::print("Trial {} is back in the list.\n", trial);
        return kDone;
    }
    if (!options.purge) {
        trials.moveToTrash(trial);
        fmt::print("Trial {} is in the trash; lockstep delete {} --restore brings it back.\n", trial, trial);
        return kDone;
    }
    if (const auto left = trials.purge(trial)) return context.report({*left}), kFailed;
    fmt::print("Trial {} and its files are gone.\n", trial);
    return kDone;
}

}  // namespace

void addDelete(CLI::App& program, Run& run) {
    const auto options = std::make_shared<DeleteOptions>();
    auto* command =
        program.add_subcommand("delete", "Move a trial to the trash; with --purge remove it and its checkpoints");
    addTrialOption(*command, options->trial);
    auto* purge = command->add_flag("--purge", options->purge, "Remove its rows and files for good");
    command->add_flag("--restore", options->restore, "Bring it back out of the trash")->excludes(purge);
    command->callback([options, &run] { run = [options](Context& context) { return erase(context, *options); }; });
}

}  // namespace lockstep
