#include <fmt/format.h>

#include <memory>

#include "app/commands/commands.h"
#include "app/history_access.h"
#include "engine/history/queue_query.h"

namespace lockstep {

namespace {

struct DeleteOptions {
    std::int64_t trial = 0;
    bool purge = false, restore = false;
};

// Whoever brings back what the queue has done with, or what left its sweep, is told how it trains after all.
std::string restoredText(TrialService& trials, std::int64_t trial) {
    const std::string state = trials.row(trial).state;
    const auto at = QueueQuery(trials.query()).whereabouts(trial);
    if (state == text(RunState::Finished) || (at && at->isQueued))
        return fmt::format("Trial {} is back in the list.\n", trial);
    const bool hasEnded = state != text(RunState::Queued);
    return fmt::format(
        "Trial {0} is back in the list{1}.\n`lockstep queue add {0}` queues it again, `lockstep {2} {0}` trains it at "
        "once.\n",
        trial, hasEnded ? ", " + state : ", in no queue", hasEnded ? "resume" : "train --trial");
}

int erase(Context& context, const DeleteOptions& options) {
    auto trials = openTrials();
    const auto trial = options.trial;
    if (options.restore) {
        trials.restore(trial);
        fmt::print("{}", restoredText(trials, trial));
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
