#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <span>
#include <sstream>

#include "app/commands/commands.h"
#include "app/standard_streams.h"
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

Exit status: 0 done; 1 the run or the command failed, or its output could not be written; 2 the request is wrong (usage,
settings, data); 3 no such trial, preset or model; 4 training was stopped before its end, on request or because the
reader of its output has gone, with a checkpoint if it had begun; 130 ended at once by a second Ctrl+C; 141 the reader
of another command's output has gone (SIGPIPE).

With --json errors, too, are an object on the standard output: {"problems":[{"code":…,"what":…,"remedy":…}]}; those of
export are words, for its --json names a file.)";

// Snapshots of weights come and go for as long as a run lives. After the first, the C library would take them from its
// heaps (mallopt(3), "dynamic mmap threshold"), where small things between them keep the room from being used again.
void keepLargeBlocksApart() { mallopt(M_MMAP_THRESHOLD, 128 << 10); }

bool isNoCommand(const CLI::App& program, std::string_view first) {
    const auto named = [first](const CLI::App* command) { return command->get_name() == first; };
    return !first.empty() && !first.starts_with('-') && program.get_subcommands(named).empty();
}

// CLI11 would say of a misspelt command only that one is required, and with --help nothing.
std::string complaint(const CLI::App& program, const CLI::Error& error, std::string_view first) {
    return isNoCommand(program, first) ? fmt::format("there is no command \"{}\"", first) : error.what();
}

// "help train" asks for what "train --help" does.
void takeHelp(std::span<char*> arguments) {
    static char option[] = "--help";
    if (arguments.size() < 2 || std::string_view(arguments[1]) != "help") return;
    std::ranges::rotate(arguments.subspan(1), arguments.begin() + 2);
    arguments.back() = option;
}

// Words that no option takes, one of them KEY=VALUE.
bool saysBareSetting(const CLI::Error& error) {
    const bool areLeft = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
    return areLeft && std::string_view(error.what()).find('=') != std::string_view::npos;
}

// The window takes one; commands take a trial's number as it is.
bool saysTrialOption(std::span<char*> arguments) {
    return std::ranges::any_of(arguments,
                               [](std::string_view each) { return each == "--trial" || each.starts_with("--trial="); });
}

// Of export it is the file that JSON goes to: no error stands among what is exported.
bool wantsJson(std::span<char*> arguments) {
    const bool isExport = arguments.size() > 1 && std::string_view(arguments[1]) == "export";
    return !isExport && std::ranges::any_of(arguments, [](std::string_view each) { return each == "--json"; });
}

// The one place where what went wrong below ends: a sentence and a status, never an abort.
int guarded(lockstep::Context& context, const lockstep::Run& run) {
    using lockstep::Problem;
    try {
        return run(context);
    } catch (const lockstep::ProblemError& error) {
        return context.report({error.problem()});
    } catch (const lockstep::EngineError& error) {
        const bool isFile = error.kind() == lockstep::EngineError::Kind::Io;
        const std::string code = isFile ? "command.io" : "run.failed." + std::string(text(error.kind()));
        context.report({Problem{error.where(), code, {error.what(), "The command"}}});
    } catch (const std::bad_alloc&) {
        context.report(
            {Problem{"", "run.failed.out-of-memory", {"the memory of this machine is spent", "The command"}}});
    } catch (const std::exception& error) {
        context.report({Problem{"", "app.engine-error", {error.what()}}});
    }
    return lockstep::kFailed;
}

// A reader who has gone has seen what it wanted.
int ended(int status) {
    std::fflush(stdout);
    const int error = lockstep::outputError();
    if (error == 0 || error == EPIPE) return status;
    fmt::print(stderr, "lockstep: the standard output could not be written whole: {}\n{}", std::strerror(error),
               "  → What is there is the beginning. Make room, or send the output elsewhere, and ask again.\n");
    return status == lockstep::kDone ? lockstep::kFailed : status;
}

// What --help and --version ask for.
int answered(const CLI::App& program, const CLI::Success& asked) {
    std::ostringstream answer;
    const int status = program.exit(asked, answer, answer);
    fmt::print("{}", answer.str());
    return ended(status);
}

}  // namespace

int main(int argc, char** argv) {
    keepLargeBlocksApart();
    lockstep::guardStandardStreams();
    CLI::App program("Lockstep: data-parallel training that shows what every device is doing", "lockstep");
    program.set_version_flag("--version", "lockstep " LOCKSTEP_VERSION);
    program.require_subcommand(1);
    program.option_defaults()->take_last();  // a repeated option: the last word counts
    lockstep::Run run;
    for (const auto add : lockstep::allCommands()) add(program, run);
    program.footer(kFooter);  // last: commands that are added take over what stands here
    if (argc < 2) {
        fmt::print("{}", program.help());
        return ended(lockstep::kBadRequest);
    }
    takeHelp({argv, static_cast<std::size_t>(argc)});
    lockstep::Context context(wantsJson({argv, static_cast<std::size_t>(argc)}));
    const auto complain = [&](const CLI::Error& error) {
        const char* code = saysTrialOption({argv, static_cast<std::size_t>(argc)}) ? "cli.trial-option"
                           : saysBareSetting(error)                                ? "cli.bare-setting"
                                                                                   : "cli.usage";
        return ended(context.report({{"", code, {complaint(program, error, argv[1])}}}));
    };
    try {
        program.parse(argc, argv);
    } catch (const CLI::Success& asked) {
        return isNoCommand(program, argv[1]) ? complain(asked) : answered(program, asked);
    } catch (const CLI::ParseError& error) {
        return complain(error);
    }
    return ended(guarded(context, run));
}
