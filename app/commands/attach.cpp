#include <fmt/format.h>

#include <memory>

#include "app/commands/commands.h"
#include "app/follow.h"
#include "app/history_access.h"
#include "app/train_run.h"

namespace lockstep {

namespace {

struct AttachOptions {
    std::int64_t trial = 0;
    bool json = false;
};

int statusOf(const TrainEvent& last) {
    if (const auto* failed = std::get_if<RunFailed>(&last)) return exitStatusOf(*failed);
    return std::get<RunFinished>(last).outcome == "stopped" ? kStopped : kDone;
}

int attach(Context& context, const AttachOptions& options) {
    auto trials = openTrialsToRead(context);
    trials.row(options.trial);
    keepQueueGoing(trials, context);
    RunPrinter printer(RunPrinter::styleFor(options.json), context.words());
    const auto last = followTrial(trials.places(), options.trial,
                                  [&](const NumberedEvent& event) { printer.print(event.number, event.event); });
    if (last) return statusOf(*last);
    const auto row = trials.row(options.trial);
    context.report({{"trial", "trial.ended-early", {std::to_string(options.trial), row.state}}});
    return kFailed;
}

}  // namespace

void addAttach(CLI::App& program, Run& run) {
    const auto options = std::make_shared<AttachOptions>();
    auto* command = program.add_subcommand("attach", "Follow a running trial from its first event to its end");
    addTrialOption(*command, options->trial);
    command->add_flag("--json", options->json, "One JSON object per event");
    command->footer(
        "\nCtrl+C ends the following, not the trial. The exit status is that of the trial, as for train.\n\n"
        "Example:\n  lockstep attach 7");
    command->callback([options, &run] { run = [options](Context& context) { return attach(context, *options); }; });
}

}  // namespace lockstep
