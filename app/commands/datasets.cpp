#include <fmt/format.h>

#include <memory>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/listing.h"

namespace lockstep {

namespace {

std::string whereOf(const DatasetEntry& entry) {
    switch (presenceOf(entry)) {
        case Presence::Present: return entry.defaultPath.empty() ? "needs no files" : entry.defaultPath.string();
        case Presence::NeedsPath: return "give its folder with --data";
        case Presence::Absent: return "absent: " + entry.remedy;
    }
    return {};
}

int datasets(Context& context, bool json) {
    if (json) {
        fmt::print("{}\n", jsonOf(offeredDatasets(context.environment())));
        return kDone;
    }
    Table table({"ID", "TITLE", "WHERE"});
    for (const auto& entry : context.environment().datasets()) table.add({entry.id, entry.title, whereOf(entry)});
    fmt::print("{}", table.text());
    for (const auto& plugin : context.plugins()) {
        for (const auto& problem : plugin.problems) fmt::print(stderr, "{}", context.words().report({problem}));
    }
    return kDone;
}

}  // namespace

void addDatasets(CLI::App& program, Run& run) {
    const auto json = std::make_shared<bool>(false);
    auto* command = program.add_subcommand("datasets", "The datasets this program can read, and where they are");
    command->add_flag("--json", *json, "As JSON, with every setting");
    command->footer(
        "\nExamples:\n  lockstep datasets\n  lockstep train --dataset synthetic --model mlp --epochs 1\n"
        "  lockstep train --dataset idx --data /data/kmnist --model lenet5");
    command->callback([json, &run] { run = [json](Context& context) { return datasets(context, *json); }; });
}

}  // namespace lockstep
