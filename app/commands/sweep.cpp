#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/function_sweep.h"
#include "app/history_access.h"
#include "app/sweep_options.h"
#include "app/sweep_plan_text.h"
#include "app/sweep_text.h"
#include "engine/queue/queue_problem.h"
#include "engine/queue/queue_service.h"
#include "engine/search/chosen_method.h"

namespace lockstep {

namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 500ms;

struct SweepCommand {
    SweepOptions sweep;
    bool onlyPrint = false, dryRun = false, detach = false, json = false;
};

constexpr const char* kSweepHelp = R"(
A sweep trains many trials, one for each cell of settings, by a queue that goes on when this command has ended (Ctrl+C)
and the window is closed. `lockstep queue` shows what runs and waits, `lockstep sweeps` what came out.

Examples:
  lockstep sweep --preset fashion --vary learning_rate=log:1e-3..1 optimizer.momentum=0.8..0.99 --trials 12
  lockstep sweep --preset fashion --vary batch=64,128,256 learning_rate=0.05,0.1,0.2 --method grid --repeats 3
  lockstep sweep --objective hartmann6 --method tpe --trials 100 --seed 1
  lockstep sweep sweep.json --parallel 2 --devices cpu:1x1
  lockstep sweep --preset fashion --vary batch=64,128 --print-sweep > sweep.json)";

bool isOver(const TrialGroup& group) { return group.state != GroupState::Active && group.state != GroupState::Paused; }

int statusOf(const SweepResult& result) {
    const bool cameToSomething = result.finished > 0 || (result.bestAtRung && result.failed == 0);
    return result.group.state == GroupState::Finished && cameToSomething ? kDone : kFailed;
}

void printEnd(const SweepResult& result, const Context& context) {
    fmt::print("Sweep {} {}: {}\n\n{}{}", result.group.id, text(result.group.state), progressText(result),
               cellsTable(result), failureText(result, context.words()));
    if (const auto problem = problemFrom(result.group.reason)) context.report({*problem});
}

// On a terminal in one line; elsewhere a line whenever a trial has ended.
class ProgressLine {
public:
    ~ProgressLine() {
        if (m_shown) fmt::print("\n");
    }
    void show(const SweepResult& result) {
        const std::string line = progressText(result);
        const std::int64_t done = result.ended;
        if (isatty(STDOUT_FILENO)) fmt::print("\r\033[K{}", line);
        else if (done != m_done) fmt::print("{}\n", line);
        m_shown = isatty(STDOUT_FILENO) != 0;
        m_done = done;
        std::fflush(stdout);
    }

private:
    std::int64_t m_done = 0;
    bool m_shown = false;
};

// Returns when it is over. It is read when the history has changed, and no oftener.
SweepResult followToEnd(QueueService& queue, std::int64_t group, bool json) {
    ProgressLine line;
    for (;;) {
        const std::int64_t version = queue.dataVersion();
        SweepResult now = queue.sweep(group);
        if (isOver(now.group)) return now;
        if (!json) line.show(now);
        do {
            if (now.group.state == GroupState::Active) queue.startKeeper();
            std::this_thread::sleep_for(kLook);
        } while (queue.dataVersion() == version);
    }
}

int follow(Context& context, QueueService& queue, std::int64_t group, bool json) {
    const SweepResult result = followToEnd(queue, group, json);
    if (json) fmt::print("{}\n", lineOf(sweepResultJson(result, context.words())));
    else printEnd(result, context);
    return statusOf(result);
}

// What "auto" came to.
void printMethod(const SweepSpec& sweep, const Words& words) {
    const std::string reason = chosenMethod(sweep, spaceOf(sweep).value()).reason;
    if (!reason.empty()) fmt::print("{}\n", words.what({"method", reason, {}}));
}

int sweep(Context& context, const SweepCommand& options) {
    if (options.sweep.objective && namesFunction(*options.sweep.objective))
        return runFunctionSweep(context, options.sweep, options.json);
    const auto sweep = sweepFrom(options.sweep, context.environment());
    if (!sweep.ok()) return context.report(sweep.problems());
    if (options.onlyPrint) {
        fmt::print("{}", sweepJson(sweep.value()));
        return kDone;
    }
    if (!options.json) {
        fmt::print("{}", sweepText(sweep.value(), context.environment()));
        printMethod(sweep.value(), context.words());
    }
    if (options.dryRun) return kDone;
    auto trials = openTrials();
    QueueService queue(trials, thisProgram());
    const std::int64_t group = queue.addSweep(sweep.value());
    if (options.detach) {
        if (options.json) fmt::print("{}\n", lineOf({{"sweep", group}}));
        else fmt::print("Sweep {} is in the queue; lockstep sweeps {} tells how it goes.\n", group, group);
        return kDone;
    }
    if (!options.json)
        fmt::print("Sweep {} has begun. Ctrl+C leaves it to the queue; lockstep sweeps {} --cancel ends it.\n", group,
                   group);
    std::fflush(stdout);
    return follow(context, queue, group, options.json);
}

}  // namespace

void addSweep(CLI::App& program, Run& run) {
    const auto options = std::make_shared<SweepCommand>();
    auto* command = program.add_subcommand("sweep", "Train many trials that differ in some settings, by the queue");
    addSweepOptions(*command, options->sweep);
    command->add_flag("--print-sweep", options->onlyPrint, "Print the sweep's file that these options mean");
    command->add_flag("--dry-run", options->dryRun, "Say what it would do, and train nothing");
    command->add_flag("--detach", options->detach, "Leave it to the queue at once");
    command->add_flag("--json", options->json,
                      "One JSON object at the end, with all cells; of a function one for each cell");
    command->footer(kSweepHelp);
    command->callback([options, command, &run] {
        options->sweep.given = givenOptions(*command);
        run = [options](Context& context) { return sweep(context, *options); };
    });
}

}  // namespace lockstep
