#include "app/function_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "app/format.h"
#include "app/listing.h"
#include "app/sweep_text.h"
#include "datasets/csv.h"
#include "datasets/text_file.h"
#include "engine/search/cell_count.h"
#include "engine/search/chosen_method.h"
#include "engine/search/simulated_sweep.h"

namespace lockstep {

namespace {

constexpr std::string_view kTable = "table:";

struct FunctionSweep {
    SweepSpec sweep;
    SearchSpace space;
    TestFunction function;
};

std::vector<std::vector<std::string>> rowsOf(const std::string& csv, const std::string& file) {
    std::vector<std::vector<std::string>> rows;
    CsvReader reader(csv, file);
    for (std::vector<std::string> cells; reader.next(cells);) rows.push_back(cells);
    return rows;
}

Result<TestFunction> functionOf(const std::string& objective) {
    if (auto known = testFunction(objective)) return std::move(*known);
    const std::string file = objective.substr(kTable.size());
    try {
        return tableFunction(rowsOf(readText(file), file), file);
    } catch (const ProblemError& error) {
        return error.problem();
    }
}

// There is no trial whose seed it could be.
std::optional<Problem> takeTrialsSeed(const SweepOptions& options, SweepSpec& sweep) {
    const auto given = std::ranges::find(options.trial.given, "seed", &std::pair<std::string, std::string>::first);
    if (given == options.trial.given.end()) return std::nullopt;
    TrialSpec trial;
    auto problem = writeSetting(trial, "seed", settingValue("seed", given->second));
    sweep.seed = trial.seed;
    return problem;
}

// What else was given would be passed over in silence, for there is nothing that it could be of.
std::vector<Problem> problemsOfOptions(const SweepOptions& options, const SweepSpec& sweep) {
    constexpr std::array<std::string_view, 10> kGoWithIt{"--objective", "file",        "--vary",     "--constraint",
                                                         "--method",    "--trials",    "--parallel", "--json",
                                                         "--seed",      "--sweep-seed"};
    std::vector<Problem> problems;
    const auto refuse = [&](const std::string& name) {
        problems.push_back({name, "sweep.not-of-functions", {sweep.objective}});
    };
    for (const std::string& each : options.given) {
        const bool isSeedTwice = each == "--seed" && options.seed;
        if (isSeedTwice || std::ranges::find(kGoWithIt, each) == kGoWithIt.end()) refuse(each);
    }
    const auto isGiven = [&](const char* name) {
        return std::ranges::find(options.given, name) != options.given.end();
    };
    if (!sweep.scheduler.empty() && !isGiven("--scheduler")) refuse("scheduler");  // of the file
    if (sweep.repeats != 1 && !isGiven("--repeats")) refuse("repeats");
    return problems;
}

Result<FunctionSweep> functionSweepFrom(const SweepOptions& options) {
    std::vector<Problem> problems;
    auto stated = statedSweep(options, problems);
    if (!stated || !problems.empty()) return problems;
    SweepSpec sweep = std::move(*stated);
    problems = problemsOfOptions(options, sweep);
    if (auto problem = takeTrialsSeed(options, sweep)) problems.push_back(std::move(*problem));
    if (!problems.empty()) return problems;
    auto function = functionOf(sweep.objective);
    if (!function.ok()) return function.problems();
    if (sweep.vary.empty()) sweep.vary = function.value().domain;
    for (const Dimension& each : function.value().domain) {
        if (std::ranges::find(sweep.vary, each.path, &Dimension::path) == sweep.vary.end())
            return Problem{"vary", "search.function-asks", {sweep.objective, each.path}};
    }
    for (const Dimension& each : sweep.vary) {
        const bool isAsked =
            std::ranges::find(function.value().domain, each.path, &Dimension::path) != function.value().domain.end();
        if (function.value().isTable() && !isAsked)
            return Problem{function.value().name, "search.table-no-column", {each.path}};
    }
    adoptKinds(sweep, ownField);
    auto space = functionSpaceOf(sweep);
    if (!space.ok()) return space.problems();
    if (auto problem = problemOfNoCells(sweep, space.value())) return std::move(*problem);
    return FunctionSweep{std::move(sweep), std::move(space).value(), std::move(function).value()};
}

std::string lossText(double loss) { return std::isfinite(loss) ? formatted("%.6g", loss) : "–"; }

std::vector<Problem> problemsOf(const SimulatedTrial& trial, const TestFunction& function) {
    if (trial.tried.hasLoss()) return {};
    return {function.whyNone(trial.tried.cell)};
}

void print(const SimulatedTrial& trial, const std::vector<Problem>& problems, const Words& words) {
    fmt::print("{:>4}  loss {:<12}  best {:<12}  {}\n", trial.number + 1, lossText(trial.tried.loss),
               lossText(trial.best), printable(wordsOf(trial.tried.cell)));
    for (const Problem& each : problems) fmt::print("      failed: {}\n", words.what(each));
}

Json jsonOf(const SimulatedTrial& trial, const std::string& method, const std::vector<Problem>& problems,
            const Words& words) {
    return {{"trial", trial.number + 1},
            {"method", method},
            {"settings", settingsJson(trial.tried.cell)},
            {"loss", finiteOrNull(trial.tried.loss)},
            {"best", finiteOrNull(trial.best)},
            {"problems", problemsJson(problems, words)}};
}

void warnOfLinesWithoutLoss(const TestFunction& function) {
    const auto count = std::ssize(function.linesWithoutLoss);
    if (count == 0) return;
    fmt::print(stderr, "{}: {} without a number in column {}, the first line {}: {} as failed.\n",
               printable(function.name), plural(count, "line"), printable(function.lossColumn),
               function.linesWithoutLoss.front(), count == 1 ? "it counts" : "they count");
}

}  // namespace

bool namesFunction(std::string_view objective) {
    return objective.starts_with(kTable) || testFunction(objective).has_value();
}

int runFunctionSweep(const Context& context, const SweepOptions& options, bool json) {
    const auto asked = functionSweepFrom(options);
    if (!asked.ok()) return context.report(asked.problems());
    const auto& [sweep, space, function] = asked.value();
    const ChosenMethod chosen = chosenMethod(sweep, space);
    if (!json && !chosen.reason.empty()) fmt::print("{}\n", context.words().what({"method", chosen.reason, {}}));
    warnOfLinesWithoutLoss(function);
    double best = 0;
    std::set<std::string> remedies;  // each once
    simulate(sweep, space, function, [&](const SimulatedTrial& trial) {
        const auto problems = problemsOf(trial, function);
        if (json) fmt::print("{}\n", lineOf(jsonOf(trial, chosen.method, problems, context.words())));
        else print(trial, problems, context.words());
        for (const Problem& each : problems) remedies.insert(context.words().remedy(each));
        best = trial.best;
    });
    for (const std::string& each : remedies) {
        if (!json) fmt::print("  → {}\n", each);
    }
    return std::isfinite(best) ? kDone : kFailed;
}

}  // namespace lockstep
