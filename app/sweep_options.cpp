#include "app/sweep_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/format.h"
#include "app/setting_fields.h"
#include "engine/queue/demand.h"
#include "engine/queue/sweep_results.h"
#include "engine/search/sweep_probes.h"
#include "engine/train/plan_run.h"

namespace lockstep {

namespace {

Result<SweepSpec> startingPoint(const SweepOptions& options) {
    if (options.file.empty()) return SweepSpec();
    const auto text = specFileText(options.file);
    return text.ok() ? sweepFromJson(text.value(), options.file) : Result<SweepSpec>(text.problems());
}

template <class T>
void take(const std::optional<T>& given, T& into) {
    if (given) into = *given;
}

// "validation.accuracy" means "validation_accuracy".
std::string metricKey(std::string words) {
    std::ranges::replace(words, '.', '_');
    return words;
}

void addVaried(const SweepOptions& options, SweepSpec& sweep, std::vector<Problem>& problems) {
    for (const std::string& words : options.vary) {
        auto dimension = dimensionFrom(words);
        if (!dimension.ok()) {
            problems.push_back(dimension.problems().front());
            continue;
        }
        std::erase_if(sweep.vary, [&](const Dimension& each) { return each.path == dimension.value().path; });
        sweep.vary.push_back(std::move(dimension).value());
    }
    for (const std::string& text : options.constraints) {
        auto constraint = Constraint::parse(text, "--constraint");
        if (constraint.ok()) sweep.constraints.push_back(std::move(constraint).value());
        else problems.push_back(constraint.problems().front());
    }
}

void addProblemsOfValues(const SearchSpace& space, const SweepSpec& sweep, const Environment& environment,
                         std::vector<Problem>& problems) {
    for (const TrialSpec& probe : probesOf(sweep, space)) {
        for (Problem& each : validate(probe, environment)) {
            if (std::ranges::find(problems, each) == problems.end()) problems.push_back(std::move(each));
        }
    }
}

// Folders and tables may have validation samples of their own; whoever opens them knows.
bool mayValidate(const SweepSpec& sweep) {
    constexpr std::string_view kNone[] = {"fashion-mnist", "idx", "cifar10", "cifar100", "synthetic", "text"};
    const bool isVaried = std::ranges::find(sweep.vary, "validation_share", &Dimension::path) != sweep.vary.end();
    return sweep.trial.validationShare > 0 || isVaried ||
           std::ranges::find(kNone, sweep.trial.dataset.id) == std::end(kNone);
}

// Who chooses by validation asks for samples to do it with; sweepText() says how many are held out.
void holdOutWhereAsked(SweepSpec& sweep) {
    constexpr double kUsualShare = 0.1;
    const Metric* metric = findMetric(sweep.objective);
    if (metric && metric->split == Split::Validation && !mayValidate(sweep)) sweep.trial.validationShare = kUsualShare;
}

std::optional<Problem> problemOfObjective(const SweepSpec& sweep, const Environment& environment) {
    const Metric* metric = findMetric(sweep.objective);
    const ModelEntry* model = environment.model(sweep.trial.model.id);
    if (!metric || !model) return std::nullopt;
    const bool fits = metric->task.empty() || metric->task == text(model->task);
    if (!fits) return Problem{"objective", "sweep.objective-of-another-task", {sweep.objective, model->name}};
    return std::nullopt;
}

std::string valuesText(const Dimension& dimension) {
    const std::string words = wordsOf(dimension);
    return words.substr(std::min(words.find('=') + 1, words.size()));
}

std::string choosingText(const SweepSpec& sweep) {
    if (sweep.trial.validationShare > 0)
        return fmt::format(
            "{} of the training samples are held out: they choose the best cell, and the test samples "
            "are looked at once by each trial, at its end.",
            percentText(sweep.trial.validationShare));
    return "No training samples are held out (validation_share 0): unless the data have validation samples of their "
           "own,\nthe test samples choose the best cell, and what they say of it is too good. "
           "--set validation_share=0.1 holds a tenth out.";
}

}  // namespace

void addSweepOptions(CLI::App& command, SweepOptions& options) {
    command.add_option("file", options.file, "A sweep's file (JSON), as --print-sweep prints one; options go over it")
        ->type_name("FILE");
    addSourceOptions(command, options.trial);
    addDataOptions(command, options.trial);
    addModelOptions(command, options.trial);
    addRunOptions(command, options.trial);
    command
        .add_option("--vary", options.vary,
                    "Settings and their values: batch=64,128  optimizer.momentum=0.8..0.99  "
                    "learning_rate=log:1e-3..1\nepochs=2..10:2 (a step)  learning_rate=log:1e-3..1/4 (4 points)  "
                    "optimizer.beta2=0.9..0.999?optimizer=adamw")
        ->type_name("SETTING=VALUES")
        ->take_all();
    command.add_option("--constraint", options.constraints, "What must hold, for example \"batch / devices >= 16\"")
        ->type_name("TEXT")
        ->take_all();
    command.add_option("--method", options.method, "How cells are chosen: grid, random (unless said), sobol")
        ->type_name("NAME");
    command.add_option("--trials", options.trials, "Cells to try (20 unless said); of a grid at most so many, 0: all")
        ->type_name("N");
    command.add_option("--repeats", options.repeats, "Trials of each cell, with a seed of its own each")
        ->type_name("N");
    command
        .add_option_function<std::string>(
            "--objective", [&options](const std::string& words) { options.objective = metricKey(words); },
            "What the best cell is chosen by, for example validation.accuracy; unless said, what counts for the model")
        ->type_name("METRIC");
    command.add_option("--parallel", options.parallel, "Trials at once, as far as the machine has room")
        ->type_name("N");
    command.add_option("--retries", options.retries, "How often a trial that failed is tried again (2 unless said)")
        ->type_name("N");
    command
        .add_option("--max-failures", options.maxFailures, "Failed cells that end the sweep; 0: when all have failed")
        ->type_name("N");
    command.add_option("--sweep-seed", options.seed, "Of what is suggested; trials have seeds of their own")
        ->type_name("N");
}

Result<SweepSpec> sweepFrom(const SweepOptions& options, const Environment& environment) {
    auto start = startingPoint(options);
    if (!start.ok()) return start;
    SweepSpec sweep = std::move(start).value();
    const auto trial = specFrom(options.trial, sweep.trial, environment);
    if (!trial.ok()) return trial.problems();
    sweep.trial = trial.value();
    if (sweep.title.empty()) sweep.title = sweep.trial.title;
    take(options.method, sweep.method), take(options.objective, sweep.objective), take(options.trials, sweep.trials);
    take(options.repeats, sweep.repeats), take(options.parallel, sweep.parallel), take(options.retries, sweep.retries);
    take(options.maxFailures, sweep.maxFailures), take(options.seed, sweep.seed);
    if (sweep.method == "grid" && !options.trials && options.file.empty()) sweep.trials = 0;
    std::vector<Problem> problems;
    addVaried(options, sweep, problems);
    holdOutWhereAsked(sweep);
    adoptKinds(sweep, [&](const TrialSpec& spec, const std::string& path) { return fieldOf(environment, spec, path); });
    const auto space = spaceOf(sweep);
    if (!space.ok()) problems.insert(problems.end(), space.problems().begin(), space.problems().end());
    else addProblemsOfValues(space.value(), sweep, environment, problems);
    if (auto problem = problemOfObjective(sweep, environment)) problems.push_back(std::move(*problem));
    if (problems.empty() && plannedTrials(sweep) == 0) problems.push_back({"constraints", "sweep.no-cells", {}});
    if (!problems.empty()) return problems;
    return sweep;
}

std::string sweepText(const SweepSpec& sweep, const Environment& environment) {
    Table table({"SETTING", "VALUES"});
    for (const Dimension& each : sweep.vary) table.add({each.path, valuesText(each)});
    for (const Constraint& each : sweep.constraints) table.add({"only where", each.text()});
    const std::int64_t trials = plannedTrials(sweep), cells = trials / std::max<std::int64_t>(sweep.repeats, 1);
    const DeviceRequest request = environment.deviceRequest(sweep.trial.devices);
    const Demand each = demandOf(sweep.trial.devices, request);
    const int cores = permittedCores();
    std::string room = each.cards.empty() ? fmt::format("{} of {}", each.cores, plural(cores, "core"))
                                          : fmt::format("{} of the cards", each.cards.size());
    const std::int64_t fit = each.cards.empty() && each.cores > 0 ? cores / each.cores : sweep.parallel;
    std::string text = table.text();
    text += fmt::format("{} {} by {}{}: {} {}, {} at once; each takes {} ({}).\n", countText(cells),
                        cells == 1 ? "cell" : "cells", sweep.method,
                        sweep.repeats > 1 ? fmt::format(", {} seeds each", sweep.repeats) : "", countText(trials),
                        trials == 1 ? "trial" : "trials", sweep.parallel, room, printable(sweep.trial.devices));
    if (fit < sweep.parallel)
        text += fmt::format("The machine has room for {} at once: --devices cpu:1x1 takes one core each.\n",
                            std::max<std::int64_t>(fit, 1));
    return text + choosingText(sweep) + "\n";
}

}  // namespace lockstep
