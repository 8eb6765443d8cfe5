#include "app/train_run.h"

#include <cstdlib>

#include "app/stop_signals.h"

namespace lockstep {

int exitStatusOf(const RunFailed& failed) { return problemIn(failed) ? kBadRequest : kFailed; }

int exitStatusOf(const RunResult& result) {
    switch (result.outcome) {
        case RunResult::Outcome::Finished: return kDone;
        case RunResult::Outcome::Stopped: return kStopped;
        case RunResult::Outcome::Failed: return exitStatusOf(result.failed);
    }
    return kFailed;
}

void addOutputOptions(CLI::App& command, Output& output) {
    auto* json =
        command.add_flag("--json", output.json,
                         "One JSON object per event, the last is run_finished or run_failed; or one with problems");
    command.add_flag("--no-steps", output.withoutSteps, "With --json: leave out the events of single steps")
        ->needs(json);
}

int watchRun(Context& context, const Output& output, const StartRun& start) {
    context.environment();  // before the signals: plugins are probed in child processes
    RunControl control;
    auto style = RunPrinter::styleFor(output.json);
    if (output.withoutSteps) style = RunPrinter::Style::LinesWithoutSteps;
    RunPrinter printer(style, context.words());
    Result<RunResult> result = Problem{};
    {
        const StopSignals signals(control);
        PrintingSink terminal(printer);
        const auto endProcess = [&](const RunFailed& failed) {
            terminal.flush();
            std::_Exit(exitStatusOf(failed));
        };
        result = start({control, terminal, endProcess});
    }
    return result.ok() ? exitStatusOf(result.value()) : context.report(result.problems());
}

}  // namespace lockstep
