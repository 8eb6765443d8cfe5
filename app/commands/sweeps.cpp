#include <fmt/format.h>

#include <memory>
#include <optional>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/history_access.h"
#include "app/number_checks.h"
#include "app/sweep_text.h"
#include "engine/queue/queue_problem.h"
#include "engine/queue/queue_service.h"

namespace lockstep {

namespace {

struct SweepsOptions {
    std::int64_t sweep = 0;
    std::optional<std::int64_t> cells;  // in all
    bool pauses = false, goesOn = false, cancels = false, retries = false, onlyPrint = false, json = false;
    bool asksForSomething() const { return cells || pauses || goesOn || cancels || retries; }
};

constexpr const char* kSweepsHelp = R"(
Examples:
  lockstep sweeps                            all of them, the newest first
  lockstep sweeps 3                          one: what its cells came to, the best first
  lockstep sweeps 3 --trials 40              extend it to 40 cells in all
  lockstep sweeps 3 --retry                  try what has failed once more
  lockstep sweeps 3 --print-sweep > sweep.json)";

int list(Context& context, QueueService& queue, bool json) {
    const auto sweeps = queue.sweeps();
    if (json) {
        Json out = Json::array();
        for (const TrialGroup& each : sweeps) out.push_back(sweepResultJson(queue.sweep(each.id), context.words()));
        fmt::print("{}\n", lineOf({{"sweeps", out}}));
        return kDone;
    }
    if (sweeps.empty()) {
        fmt::print("No sweeps yet. lockstep sweep --help shows how to start one.\n");
        return kDone;
    }
    Table table({"SWEEP", "STATE", "STARTED", "PROGRESS", "TITLE"});
    for (const TrialGroup& each : sweeps)
        table.add({std::to_string(each.id), std::string(text(each.state)), timeText(each.createdAt),
                   progressText(queue.sweep(each.id)), each.title});
    fmt::print("{}", table.text());
    return kDone;
}

void carryOut(QueueService& queue, const SweepsOptions& options) {
    if (options.cells) {
        const std::int64_t freed = queue.freedAtRungs(options.sweep);
        queue.extendSweep(options.sweep, *options.cells);
        if (freed > 0)
            fmt::print(stderr, "{} at rungs without checkpoints, which were freed: what goes on of them trains anew.\n",
                       plural(freed, "trial"));
    }
    if (options.pauses) queue.pauseSweep(options.sweep);
    if (options.goesOn) queue.goOnWithSweep(options.sweep);
    if (options.cancels) queue.cancelSweep(options.sweep);
    if (options.retries) queue.retrySweep(options.sweep);
}

int sweeps(Context& context, const SweepsOptions& options) {
    if (options.cells && *options.cells < 1)
        return context.report(
            {{"--trials", "sweep.no-cells-asked", {std::to_string(*options.cells), std::to_string(options.sweep)}}});
    auto trials = options.asksForSomething() ? openTrials() : openTrialsToRead(context);
    QueueService queue(trials, thisProgram());
    if (options.sweep > 0) carryOut(queue, options);
    keepQueueGoing(trials, context);
    if (options.sweep == 0) return list(context, queue, options.json);
    const SweepResult result = queue.sweep(options.sweep);
    if (options.onlyPrint) fmt::print("{}", result.group.specJson);
    else if (options.json) fmt::print("{}\n", lineOf(sweepResultJson(result, context.words())));
    else {
        fmt::print("Sweep {} {}: {}\n", result.group.id, text(result.group.state), progressText(result));
        if (const auto problem = problemFrom(result.group.reason))
            fmt::print("{}\n  → {}\n", context.words().what(*problem), context.words().remedy(*problem));
        fmt::print("{}\n{}{}", virtualText(result), cellsTable(result), failureText(result, context.words()));
    }
    return kDone;
}

}  // namespace

void addSweeps(CLI::App& program, Run& run) {
    const auto options = std::make_shared<SweepsOptions>();
    auto* command = program.add_subcommand("sweeps", "All sweeps; or one: its cells, the best first");
    auto* which =
        command->add_option("sweep", options->sweep, "The sweep's number")->type_name("N")->check(atLeastOne());
    command->add_flag("--pause", options->pauses, "Start no more of its trials; what runs goes on")->needs(which);
    command->add_flag("--continue", options->goesOn, "Go on with one that is paused, or has failed")->needs(which);
    command->add_flag("--cancel", options->cancels, "Stop what runs, with checkpoints, and cancel what waits")
        ->needs(which);
    command
        ->add_flag("--retry", options->retries,
                   "Try what has failed or was cancelled once more, and make anew what was deleted")
        ->needs(which);
    command->add_option("--trials", options->cells, "Extend it to so many cells in all")
        ->type_name("N")
        ->check(anyWhole())
        ->needs(which);
    command->add_flag("--print-sweep", options->onlyPrint, "Print its file")->needs(which);
    command->add_flag("--json", options->json, "As JSON");
    command->footer(kSweepsHelp);
    command->callback([options, &run] { run = [options](Context& context) { return sweeps(context, *options); }; });
}

}  // namespace lockstep
