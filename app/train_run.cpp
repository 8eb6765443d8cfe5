#include "app/train_run.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "app/checkpoint_file.h"
#include "app/number_checks.h"
#include "app/stop_signals.h"

namespace lockstep {

namespace {

// Nobody looks on any more: the run ends as it would at Ctrl+C. A full disk is no reason to lose one.
void respondTo(int outputError, RunControl& control) {
    if (outputError != EPIPE) return control.note({"", "output.unwritable", {std::strerror(outputError)}});
    control.note({"", "output.reader-gone", {}});
    control.stop();
}

}  // namespace

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

CLI::Option* addUntilEpochOption(CLI::App& command, std::int64_t& epoch) {
    return command
        .add_option(
            "--until-epoch", epoch,
            "Stop at the end of this epoch, with a checkpoint; lockstep resume goes on as if it had not stopped")
        ->type_name("N")
        ->check(atLeastOne());
}

CLI::Option* addChangedDataOption(CLI::App& command, ChangedData& changed) {
    const auto set = [&changed](const std::string& word) {
        changed = word == "accept" ? ChangedData::Accept : ChangedData::Refuse;
    };
    return command
        .add_option_function<std::string>(
            "--changed-data", set,
            "Where the data are not those of the checkpoint: refuse (unless given), or accept and say so")
        ->type_name("WORD")
        ->check(CLI::IsMember({"refuse", "accept"}));
}

Result<SpecOptions> withWeights(SpecOptions options) {
    for (auto& [path, value] : options.given) {
        if (path != "weights" || value.empty()) continue;
        const auto chosen = checkpointFile(value);
        if (!chosen.ok()) return chosen.problems();
        value = chosen.value().file.string();
    }
    return options;
}

int watchRun(Context& context, const Output& output, std::int64_t untilEpoch, const StartRun& start) {
    context.environment();  // before the signals: plugins are probed in child processes
    RunControl control;
    if (untilEpoch > 0) control.runUntil(untilEpoch);
    auto style = RunPrinter::styleFor(output.json);
    if (output.withoutSteps) style = RunPrinter::Style::LinesWithoutSteps;
    RunPrinter printer(style, context.words());
    printer.onOutputError([&control](int error) { respondTo(error, control); });
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
