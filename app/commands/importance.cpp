#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/history_access.h"
#include "app/importance_text.h"
#include "app/number_checks.h"
#include "app/rung_text.h"
#include "app/trial_table.h"
#include "engine/queue/sweep_rungs.h"
#include "engine/queue/tried_cells.h"

namespace lockstep {

namespace {

struct ImportanceOptions {
    std::int64_t sweep = 0;            // 0: the table
    std::int64_t rung = 0, epoch = 0;  // from 1; 0: what trials came to that were trained to the end
    TrialTableOptions table;
    std::string method = "both";
    double quantile = 0.1;
    bool json = false;
};

constexpr const char* kImportanceHelp = R"(
Two questions, two answers. fANOVA: which setting explains the differences between all trials? PED-ANOVA: which setting
must be right to be among the best? Repeats of a cell count once, by their mean. Where trials are too few to say, it says
so. "± 3" is how far the trees of fANOVA's forest are apart; its R² out of bag is how well they predict trials that they
have not seen: 1 is exactly, 0 no better than the mean. Of a sweep with a scheduler few cells are trained to the end:
--rung and --at-epoch ask with what all that came as far had come to by then.

Examples:
  lockstep importance 1
  lockstep importance 1 --rung 2
  lockstep importance 1 --method ped-anova --quantile 0.25
  lockstep importance --csv trials.csv --objective loss --log learning_rate)";

// How many trials there are, and what became of those that do not count.
struct TrialCounts {
    std::int64_t used = 0;
    std::vector<std::pair<const char*, std::int64_t>> leftOut;
};

TrialCounts countsOf(const SweepResult& sweep) {
    TrialCounts counts;
    for (const CellResult& each : sweep.cells) counts.used += each.count;
    counts.leftOut = {{"failed", sweep.failed},
                      {"running", sweep.running},
                      {"waiting", sweep.open - sweep.running},
                      {"stopped", std::max<std::int64_t>(0, sweep.ended - sweep.finished - sweep.failed)},
                      {"without_result", sweep.finished - counts.used}};
    return counts;
}

std::string leftOutWords(const TrialCounts& counts) {
    std::string text;
    for (const auto& [name, count] : counts.leftOut) {
        if (count == 0) continue;
        std::string words = name;
        std::ranges::replace(words, '_', ' ');
        text += (text.empty() ? "; left out: " : ", ") + fmt::format("{} {}", count, words);
    }
    return text;
}

Json leftOutJson(const TrialCounts& counts) {
    Json out = Json::object();
    for (const auto& [name, count] : counts.leftOut) out[name] = count;
    return out;
}

ImportanceFindings findImportance(std::vector<Dimension> settings, std::span<const Tried> tried,
                                  const ImportanceOptions& options) {
    ImportanceFindings findings{.settings = std::move(settings), .quantile = options.quantile};
    if (options.method != "ped-anova") findings.fanova = fanova(findings.settings, tried);
    if (options.method != "fanova")
        findings.pedAnova = pedAnova(findings.settings, tried, {.target = options.quantile});
    return findings;
}

int printImportance(Json out, const std::string& title, const TrialCounts& counts, const ImportanceFindings& findings,
                    bool asJson) {
    if (asJson) {
        out["used"] = counts.used, out["left_out"] = leftOutJson(counts);
        out.update(importanceJson(findings));
        fmt::print("{}\n", lineOf(out));
    } else {
        fmt::print("{}{}\n\n{}\n{}", title, leftOutWords(counts), importanceTable(findings),
                   importanceSentences(findings));
    }
    return kDone;
}

std::string titleOf(const SweepResult& sweep, const std::string& when, std::size_t cells, std::int64_t trials) {
    return fmt::format("What mattered in sweep {} for {}{}: {}, {}", sweep.group.id,
                       sweep.objective ? sweep.objective->title : "its objective", when,
                       plural(static_cast<std::int64_t>(cells), "cell"), plural(trials, "trial"));
}

// "sweep", "objective", "cells"; "epoch": at whose end the objective is asked, null: trained to the end; "rungs": with
// how many cells each would be asked.
Json headOf(const SweepResult& sweep, std::size_t cells, std::int64_t epoch, const std::vector<EarlyRung>& rungs) {
    Json out{{"sweep", sweep.group.id},
             {"objective", sweep.objective ? Json(sweep.objective->key) : Json()},
             {"cells", cells},
             {"epoch", epoch > 0 ? Json(epoch) : Json()},
             {"rungs", Json::array()}};
    for (const EarlyRung& each : rungs)
        out["rungs"].push_back({{"rung", each.rung}, {"epochs", each.epoch}, {"cells", each.cells}});
    return out;
}

int atTheEnd(const SweepResult& sweep, const std::vector<EarlyRung>& rungs, const ImportanceOptions& options) {
    const auto tried = triedCells(sweep);
    const auto counts = countsOf(sweep);
    const auto found = findImportance(sweep.spec.vary, tried, options);
    const int status = printImportance(headOf(sweep, tried.size(), 0, rungs),
                                       titleOf(sweep, "", tried.size(), counts.used), counts, found, options.json);
    if (!options.json) fmt::print("{}", earlierRungText(sweep.cells.size(), tried.size(), rungs));
    return status;
}

// The others have not come there, or have no result.
int atEpoch(const SweepResult& sweep, const EarlyCells& early, std::int64_t epoch, const std::vector<EarlyRung>& rungs,
            const ImportanceOptions& options) {
    std::int64_t made = 0;
    for (const CellResult& each : sweep.cells) made += std::ssize(each.trials) + each.removed;
    const TrialCounts counts{early.trials, {{"not_there", made - early.trials}}};
    const std::string title = titleOf(sweep, fmt::format(" by epoch {}", epoch), early.tried.size(), early.trials);
    return printImportance(headOf(sweep, early.tried.size(), epoch, rungs), title, counts,
                           findImportance(sweep.spec.vary, early.tried, options), options.json);
}

int ofSweep(Context& context, const ImportanceOptions& options) {
    auto trials = openTrialsToRead(context);
    const SweepResult sweep = sweepResult(trials.query(), options.sweep);
    const auto epoch = options.rung > 0 ? epochOfRung(sweep, options.rung) : Result<std::int64_t>(options.epoch);
    if (!epoch.ok()) return context.report(epoch.problems());
    const QueueQuery queue(trials.query());
    const auto made = queue.trials(sweep.group.id);
    const auto facts = sweep.objective ? rungFactsOf(queue, *sweep.objective, sweep.group.id) : RungFacts();
    const auto at = [&](std::int64_t when) { return triedCellsAt(sweep, made, facts.values, when); };
    const auto rungs = earlyRungs(sweep, [&](std::int64_t when) { return at(when).tried.size(); });
    if (epoch.value() == 0) return atTheEnd(sweep, rungs, options);
    return atEpoch(sweep, at(epoch.value()), epoch.value(), rungs, options);
}

int ofTable(const ImportanceOptions& options) {
    const TrialTable table = readTrialTable(options.table);
    const auto used = std::ranges::count_if(table.tried, [](const Tried& each) { return std::isfinite(each.loss); });
    const TrialCounts counts{used, {{"without_result", static_cast<std::int64_t>(table.tried.size()) - used}}};
    const std::string title =
        fmt::format("What mattered in {} for {}: {} trials", printable(options.table.file.string()),
                    printable(options.table.objective), used);
    Json out{{"file", options.table.file.string()}, {"objective", options.table.objective}};
    return printImportance(std::move(out), title, counts, findImportance(table.settings, table.tried, options),
                           options.json);
}

int importance(Context& context, const ImportanceOptions& options) {
    if (options.sweep > 0) return ofSweep(context, options);
    if (!options.table.file.empty()) return ofTable(options);
    return context.report({{"", "cli.usage", {"the number of a sweep is wanted, or --csv"}}});
}

CLI::Validator shareOfTrials() {
    return {[](std::string& text) {
                double value = 0;
                if (!CLI::detail::lexical_cast(text, value)) return std::string();
                return value > 0 && value < 1 ? std::string() : text + " is not between 0 and 1";
            },
            ""};
}

void addEpochOptions(CLI::App& command, CLI::Option& sweep, ImportanceOptions& options) {
    auto* rung = command.add_option("--rung", options.rung, "By what cells had come to at this rung, from 1");
    auto* epoch = command.add_option("--at-epoch", options.epoch, "By what cells had come to at the end of this epoch");
    for (auto* each : {rung, epoch}) each->type_name("N")->check(atLeastOne())->needs(&sweep);
    rung->excludes(epoch);
}

void addTableOptions(CLI::App& command, CLI::Option& sweep, TrialTableOptions& options) {
    auto* objective = command.add_option("--objective", options.objective, "The table's column of what they came to");
    auto* table =
        command.add_option("--csv", options.file, "Of trials from elsewhere: a table with names over its columns");
    table->type_name("FILE")->excludes(&sweep)->needs(objective);
    objective->type_name("COLUMN")->needs(table);
    command.add_flag("--maximise", options.isHigherBetter, "More of it is better")->needs(table);
    command.add_option("--log", options.log, "Its columns on a log scale")->type_name("COLUMN...")->needs(table);
}

}  // namespace

void addImportance(CLI::App& program, Run& run) {
    const auto options = std::make_shared<ImportanceOptions>();
    auto* command =
        program.add_subcommand("importance", "Which settings of a sweep mattered, and which decide on the best");
    auto* sweep = command->add_option("sweep", options->sweep, "The sweep's number")->type_name("N");
    sweep->check(atLeastOne());
    addEpochOptions(*command, *sweep, *options);
    addTableOptions(*command, *sweep, options->table);
    command->add_option("--method", options->method, "fanova, ped-anova, or both, as usual")
        ->type_name("NAME")
        ->check(CLI::IsMember({"both", "fanova", "ped-anova"}));
    command->add_option("--quantile", options->quantile, "The share that counts as the best; 0.1 unless said")
        ->type_name("SHARE")
        ->check(shareOfTrials());
    command->add_flag("--json", options->json, "As JSON");
    command->footer(kImportanceHelp);
    command->callback([options, &run] { run = [options](Context& context) { return importance(context, *options); }; });
}

}  // namespace lockstep
