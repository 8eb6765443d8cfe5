#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/history_access.h"
#include "app/importance_text.h"
#include "app/number_checks.h"
#include "app/trial_table.h"
#include "engine/queue/sweep_results.h"

namespace lockstep {

namespace {

struct ImportanceOptions {
    std::int64_t sweep = 0;  // 0: the table
    TrialTableOptions table;
    std::string method = "both";
    double quantile = 0.1;
    bool json = false;
};

constexpr const char* kImportanceHelp = R"(
Two questions, two answers. fANOVA: which setting explains the differences between all trials? PED-ANOVA: which setting
must be right to be among the best? Repeats of a cell count once, by their mean. Where trials are too few to say, it says
so. "± 3" is how far the trees of fANOVA's forest are apart; its R² out of bag is how well they predict trials that they
have not seen: 1 is exactly, 0 no better than the mean.

Examples:
  lockstep importance 1
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

int ofSweep(Context& context, const ImportanceOptions& options) {
    auto trials = openTrialsToRead(context);
    const SweepResult sweep = sweepResult(trials.query(), options.sweep);
    const auto tried = triedCells(sweep);
    const auto counts = countsOf(sweep);
    const std::string title =
        fmt::format("What mattered in sweep {} for {}: {} cells, {} trials", sweep.group.id,
                    sweep.objective ? sweep.objective->title : "its objective", tried.size(), counts.used);
    Json out{{"sweep", sweep.group.id},
             {"objective", sweep.objective ? Json(sweep.objective->key) : Json()},
             {"cells", tried.size()}};
    return printImportance(std::move(out), title, counts, findImportance(sweep.spec.vary, tried, options),
                           options.json);
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
