#include "app/function_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/format.h"
#include "app/sweep_text.h"
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

Result<TestFunction> functionOf(const std::string& objective) {
    if (auto known = testFunction(objective)) return std::move(*known);
    const std::string file = objective.substr(kTable.size());
    const auto csv = specFileText(file);
    return csv.ok() ? tableFunction(csv.value(), file) : Result<TestFunction>(csv.problems());
}

// There is no trial whose seed it could be.
void takeTrialsSeed(const SweepOptions& options, SweepSpec& sweep) {
    const auto given = std::ranges::find(options.trial.given, "seed", &std::pair<std::string, std::string>::first);
    if (given == options.trial.given.end() || options.seed) return;
    const std::string& digits = given->second;
    std::from_chars(digits.data(), digits.data() + digits.size(), sweep.seed);
}

Result<FunctionSweep> functionSweepFrom(const SweepOptions& options) {
    std::vector<Problem> problems;
    auto stated = statedSweep(options, problems);
    if (!stated || !problems.empty()) return problems;
    SweepSpec sweep = std::move(*stated);
    takeTrialsSeed(options, sweep);
    auto function = functionOf(sweep.objective);
    if (!function.ok()) return function.problems();
    if (sweep.vary.empty()) sweep.vary = function.value().domain;
    for (const Dimension& each : function.value().domain) {
        if (std::ranges::find(sweep.vary, each.path, &Dimension::path) == sweep.vary.end())
            return Problem{"vary", "search.function-asks", {sweep.objective, each.path}};
    }
    adoptKinds(sweep, ownField);
    auto space = functionSpaceOf(sweep);
    if (!space.ok()) return space.problems();
    return FunctionSweep{std::move(sweep), std::move(space).value(), std::move(function).value()};
}

std::string lossText(double loss) { return std::isfinite(loss) ? formatted("%.6g", loss) : "–"; }

void print(const SimulatedTrial& trial) {
    fmt::print("{:>4}  loss {:<12}  best {:<12}  {}\n", trial.number + 1, lossText(trial.tried.loss),
               lossText(trial.best), printable(wordsOf(trial.tried.cell)));
}

Json jsonOf(const SimulatedTrial& trial, const std::string& method) {
    return {{"trial", trial.number + 1},
            {"method", method},
            {"settings", settingsJson(trial.tried.cell)},
            {"loss", finiteOrNull(trial.tried.loss)},
            {"best", finiteOrNull(trial.best)}};
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
    double best = 0;
    simulate(sweep, space, function, [&](const SimulatedTrial& trial) {
        if (json) fmt::print("{}\n", lineOf(jsonOf(trial, chosen.method)));
        else print(trial);
        best = trial.best;
    });
    return std::isfinite(best) ? kDone : kFailed;
}

}  // namespace lockstep
