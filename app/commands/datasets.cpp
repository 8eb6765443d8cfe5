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

struct DatasetsOptions {
    std::string name;
    bool json = false;
};

int listDatasets(Context& context, bool json) {
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
    fmt::print("\nThe settings of one: lockstep datasets image-folder\n");
    return kDone;
}

int datasets(Context& context, const DatasetsOptions& options) {
    if (options.name.empty()) return listDatasets(context, options.json);
    const auto* entry = context.environment().dataset(options.name);
    if (!entry) {
        std::string known;
        for (const auto& each : context.environment().datasets()) known += (known.empty() ? "" : ", ") + each.id;
        return context.report({{"dataset", "dataset.unknown", {options.name, known}}});
    }
    if (options.json) {
        fmt::print("{}\n", lineOf({{"id", entry->id},
                                   {"title", entry->title},
                                   {"meaning", entry->meaning},
                                   {"params", schemaJson(entry->params)}}));
        return kDone;
    }
    fmt::print("{}: {}\n{}\n", entry->id, entry->meaning, whereOf(*entry));
    if (!entry->params.empty()) fmt::print("\n{}", settingsText("dataset", entry->params));
    return kDone;
}

}  // namespace

void addDatasets(CLI::App& program, Run& run) {
    const auto options = std::make_shared<DatasetsOptions>();
    auto* command = program.add_subcommand("datasets",
                                           "The datasets this program can read, and where they are; with a name, its "
                                           "settings");
    command->add_option("name", options->name, "A dataset")->type_name("NAME");
    command->add_flag("--json", options->json, "As JSON, with every setting");
    command->footer(
        "\nExamples:\n  lockstep datasets\n  lockstep datasets image-folder\n"
        "  lockstep train --dataset synthetic --model mlp --epochs 1\n"
        "  lockstep train --dataset idx --data /data/kmnist --model lenet5");
    command->callback([options, &run] { run = [options](Context& context) { return datasets(context, *options); }; });
}

}  // namespace lockstep
