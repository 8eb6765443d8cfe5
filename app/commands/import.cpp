#include <fmt/format.h>

#include <memory>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/history_access.h"
#include "app/listing.h"
#include "engine/session/adopt_runs.h"

namespace lockstep {

namespace {

struct ImportOptions {
    std::vector<std::int64_t> trials;
    bool json = false;
};

// Every folder is tried; the first problem decides the exit status.
int import(Context& context, const ImportOptions& options) {
    auto known = openTrials();
    TrialStore& store = known.store();
    std::vector<Problem> problems;
    Json imported = Json::array();
    for (const auto trial : options.trials.empty() ? orphanedRuns(known.query(), known.places()) : options.trials) {
        if (const auto problem = adoptRun(store, known.places(), trial)) {
            problems.push_back(*problem);
            continue;
        }
        imported.push_back(trial);
        const auto row = known.row(trial);
        if (!options.json)
            fmt::print("Trial {} is back: {} on {}, {} after {} of {}\n", row.id, row.model, row.dataset, row.state,
                       row.epoch, plural(row.epochs, "epoch"));
    }
    if (options.json) fmt::print("{}\n", lineOf({{"imported", imported}}));
    else if (imported.empty() && problems.empty())
        fmt::print("The history knows every trial that has a run folder in {}.\n", known.places().runs().string());
    return problems.empty() ? kDone : context.report(problems);
}

}  // namespace

void addImport(CLI::App& program, Run& run) {
    const auto options = std::make_shared<ImportOptions>();
    auto* command = program.add_subcommand("import", "Take trials whose run folders the history does not know into it");
    command->add_option("trials", options->trials, "Their numbers; all of them unless given")->type_name("ID");
    command->add_flag("--json", options->json, "As JSON");
    command->footer(
        "\nAfter a damaged history was moved away, or run folders were copied here. Settings, evaluations and\n"
        "checkpoints come back; the curves of single steps do not.");
    command->callback([options, &run] { run = [options](Context& context) { return import(context, *options); }; });
}

}  // namespace lockstep
