#include <fmt/format.h>

#include <cstdio>
#include <new>

#include "app/commands/commands.h"
#include "app/printable.h"
#include "engine/core/error.h"

namespace {

constexpr const char* kFooter = R"(
Examples:
  lockstep train --preset fashion            train a small network on Fashion-MNIST, on two CPU devices
  lockstep train --dataset synthetic --model mlp --devices cpu:2 --epochs 2
  lockstep devices                           what this machine can train on
  lockstep COMMAND --help                    what a command takes, with examples

Places: LOCKSTEP_HOME moves all state to one folder; otherwise the XDG places are used (~/.local/share/lockstep).
LOCKSTEP_PLUGINS names folders with plugins, LOCKSTEP_BACKENDS the folder of the CUDA module.

Exit status: 0 done; 1 the run or the command failed; 2 the request is wrong (usage, settings, data); 3 no such trial,
preset or model; 4 stopped on request before the end, with a checkpoint if it had begun to train; 130 ended at once by a
second Ctrl+C.)";

// CLI11 would say of a misspelt command only that one is required.
std::string complaint(const CLI::App& program, const CLI::ParseError& error, std::string_view first) {
    const auto named = [first](const CLI::App* command) { return command->get_name() == first; };
    if (first.empty() || first.starts_with('-') || !program.get_subcommands(named).empty()) return error.what();
    return fmt::format("there is no command \"{}\"", first);
}

int usage(const std::string& complaint) {
    fmt::print(stderr,
               "lockstep: {}\n  → lockstep --help lists the commands; lockstep COMMAND --help what a command takes.\n",
               lockstep::printable(complaint));
    return lockstep::kBadRequest;
}

// The one place where what went wrong below ends: a sentence and a status, never an abort.
int guarded(lockstep::Context& context, const lockstep::Run& run) {
    using lockstep::Problem;
    try {
        return run(context);
    } catch (const lockstep::ProblemError& error) {
        return context.report({error.problem()});
    } catch (const lockstep::EngineError& error) {
        context.report(
            {Problem{error.where(), "run.failed." + std::string(text(error.kind())), {error.what(), "The command"}}});
    } catch (const std::bad_alloc&) {
        context.report(
            {Problem{"", "run.failed.out-of-memory", {"the memory of this machine is spent", "The command"}}});
    } catch (const std::exception& error) {
        context.report({Problem{"", "app.engine-error", {error.what()}}});
    }
    return lockstep::kFailed;
}

bool outputIsWhole() { return std::fflush(stdout) == 0 && !std::ferror(stdout); }

}  // namespace

int main(int argc, char** argv) {
    CLI::App program("Lockstep: data-parallel training that shows what every device is doing", "lockstep");
    program.set_version_flag("--version", "lockstep " LOCKSTEP_VERSION);
    program.require_subcommand(1);
    program.option_defaults()->take_last();  // a repeated option: the last word counts
    program.footer(kFooter);
    lockstep::Run run;
    for (const auto add : lockstep::allCommands()) add(program, run);
    try {
        program.parse(argc, argv);
    } catch (const CLI::Success& help) {
        return program.exit(help);
    } catch (const CLI::ParseError& error) {
        return usage(complaint(program, error, argc > 1 ? argv[1] : ""));
    }
    lockstep::Context context;
    const int status = guarded(context, run);
    if (outputIsWhole()) return status;
    fmt::print(stderr, "lockstep: the output could not be written whole\n  → Is the disk behind it full?\n");
    return status == lockstep::kDone ? lockstep::kFailed : status;
}
