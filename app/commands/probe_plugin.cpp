#include <memory>

#include "app/commands/commands.h"

namespace lockstep {

// The child process in which a plugin is tried first; not for people, so it has no description and --help leaves it
// out.
void addProbePlugin(CLI::App& program, Run& run) {
    const auto file = std::make_shared<std::string>();
    auto* command = program.add_subcommand("probe-plugin");
    command->group("");
    command->add_option("file", *file)->required();
    command->callback([file, &run] { run = [file](Context&) { return probePlugin(*file); }; });
}

}  // namespace lockstep
