#include <fmt/format.h>

#include <memory>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/history_access.h"
#include "app/importance_text.h"
#include "app/made_folder.h"
#include "app/sweep_report_facts.h"
#include "app/sweep_text.h"
#include "engine/core/durable_file.h"
#include "engine/report/sweep_report.h"

namespace lockstep {

namespace {

struct ReportOptions {
    std::int64_t sweep = 0;
    std::string html;
    bool json = false;
};

constexpr const char* kReportHelp = R"(
A report says what a sweep searched and what came out: its best cell, each trial and the best so far, all cells over their
settings, which settings mattered, curves, rungs, a table of all cells, what failed and why, on what it was trained, and how
to repeat it. It is one HTML file with its charts inside, which loads nothing and runs nothing. Without --html it is written
as sweep-<number>.html; FILE may be - for the standard output. A sweep that is still under way has a report, too.

Examples:
  lockstep report 1
  lockstep report 1 --html results/nets.html
  lockstep report 1 --html - > nets.html
  lockstep report 1 --json)";

std::string placeOf(const ReportOptions& options) {
    return options.html.empty() ? fmt::format("sweep-{}.html", options.sweep) : options.html;
}

Json bestJson(const report::SweepFacts& facts) {
    if (!facts.hasBest()) return {};
    const report::ReportedCell& best = facts.best();
    return {{"cell", best.number},
            {"settings", settingsJson(best.settings)},
            {"n", best.count},
            {"best_trial", best.bestTrial},
            {"mean", finiteOrNull(best.mean)},
            {"deviation", finiteOrNull(best.deviation)}};
}

Json orNull(const std::optional<std::int64_t>& number) { return number ? Json(*number) : Json(); }

Json importanceOf(const report::SweepFacts& facts) {
    Json out{{"cells", facts.tried.size()}, {"epoch", facts.triedAt > 0 ? Json(facts.triedAt) : Json()}};
    out.update(importanceJson({.settings = facts.spec.vary,
                               .fanova = fanova(facts.spec.vary, facts.tried),
                               .pedAnova = pedAnova(facts.spec.vary, facts.tried)}));
    return out;
}

// Where it went, and what stands at its head.
Json reportJson(const report::SweepFacts& facts, const std::string& file, std::size_t bytes) {
    const report::SweepBudget budget = report::budgetOf(facts);
    return {{"sweep", facts.group.id},
            {"file", file},
            {"bytes", bytes},
            {"title", facts.group.title},
            {"state", text(facts.group.state)},
            {"objective", facts.objective ? Json(facts.objective->key) : Json()},
            {"cells", facts.cells.size()},
            {"planned", facts.planned},
            {"finished", facts.finished},
            {"failed", facts.failed},
            {"epochs",
             {{"spent", budget.spent}, {"planned", orNull(budget.planned)}, {"scheduled", orNull(budget.scheduled)}}},
            {"best", bestJson(facts)},
            {"importance", importanceOf(facts)}};
}

int writeReport(Context& context, const ReportOptions& options) {
    const std::string file = placeOf(options);
    if (file == "-" && options.json) return context.report({{"--json", "report.two-outputs", {}}});
    auto trials = openTrialsToRead(context);
    const report::SweepFacts facts = sweepFactsOf(trials.query(), options.sweep, context.words());
    const std::string html = report::htmlOf(report::sweepReport(facts));
    if (file == "-") {
        fmt::print("{}", html);
        return kDone;
    }
    MadeFolder folder = MadeFolder::of(file);
    writeNamedFile(file, html);
    folder.keep();
    if (options.json) fmt::print("{}\n", lineOf(reportJson(facts, file, html.size())));
    else fmt::print(stderr, "{}\n", printable(file));
    return kDone;
}

}  // namespace

void addReport(CLI::App& program, Run& run) {
    const auto options = std::make_shared<ReportOptions>();
    auto* command = program.add_subcommand("report", "A sweep's report, as one HTML file");
    command->add_option("sweep", options->sweep, "The sweep's number")
        ->required()
        ->type_name("N")
        ->check(CLI::PositiveNumber);
    command->add_option("--html", options->html, "Where it goes")->type_name("FILE");
    command->add_flag("--json", options->json, "Say as JSON where it went, and what stands at its head");
    command->footer(kReportHelp);
    command->callback(
        [options, &run] { run = [options](Context& context) { return writeReport(context, *options); }; });
}

}  // namespace lockstep
