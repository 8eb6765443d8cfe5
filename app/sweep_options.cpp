#include "app/sweep_options.h"

#include <algorithm>
#include <set>

#include "app/function_sweep.h"
#include "app/number_checks.h"
#include "app/setting_fields.h"
#include "engine/search/cell_count.h"
#include "engine/search/sweep_probes.h"
#include "engine/train/plan_run.h"

namespace lockstep {

namespace {

void append(std::vector<Problem>& problems, const std::vector<Problem>& more) {
    problems.insert(problems.end(), more.begin(), more.end());
}

// Empty: nothing more can be said of it.
std::optional<SweepSpec> startingPoint(const SweepOptions& options, std::vector<Problem>& problems) {
    if (options.file.empty()) return SweepSpec();
    const auto text = specFileText(options.file);
    if (text.ok()) return readSweep(text.value(), options.file, problems);
    append(problems, text.problems());
    return std::nullopt;
}

template <class T>
void take(const std::optional<T>& given, T& into) {
    if (given) into = *given;
}

// "validation.accuracy" means "validation_accuracy"; a function's name stays.
std::string objectiveKey(std::string words) {
    if (!namesFunction(words)) std::ranges::replace(words, '.', '_');
    return words;
}

void addVaried(const SweepOptions& options, SweepSpec& sweep, std::vector<Problem>& problems) {
    std::set<std::string> given;
    for (const std::string& words : options.vary) {
        auto dimension = dimensionFrom(words);
        if (!dimension.ok()) {
            problems.push_back(dimension.problems().front());
            continue;
        }
        const std::string path = dimension.value().path;
        if (!given.insert(path).second) problems.push_back({path, "search.twice-varied", {}});
        std::erase_if(sweep.vary, [&](const Dimension& each) { return each.path == path; });
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

// Where the values cannot be judged, what is not varied can.
void addProblemsOfRest(const SweepSpec& sweep, const Environment& environment, std::vector<Problem>& problems) {
    for (Problem& each : validate(sweep.trial, environment)) {
        const bool isVaried = std::ranges::find(sweep.vary, each.field, &Dimension::path) != sweep.vary.end();
        if (!isVaried && std::ranges::find(problems, each) == problems.end()) problems.push_back(std::move(each));
    }
}

// That nothing is varied follows from what could not be read.
void addProblemsOfSpace(std::vector<Problem> found, const SweepSpec& sweep, const Environment& environment,
                        std::vector<Problem>& problems) {
    if (!problems.empty()) std::erase_if(found, [](const Problem& each) { return each.code == "search.empty"; });
    append(problems, found);
    addProblemsOfRest(sweep, environment, problems);
}

// A setting that nobody has is never set, and whatever asks about it would hold.
void addProblemsOfConstraints(const SweepSpec& sweep, const Environment& environment, std::vector<Problem>& problems) {
    for (const Constraint& each : sweep.constraints) {
        for (const std::string& path : each.paths()) {
            if (!isSetting(path) || takesText(path)) continue;  // the space says so; or everybody has it
            if (!fieldOf(environment, sweep.trial, path))
                problems.push_back({each.text(), "search.not-a-setting", {path}});
        }
    }
}

// What a file says beside no scheduler is what --print-sweep writes.
void addProblemsOfRungs(const SweepOptions& options, const SweepSpec& sweep, std::vector<Problem>& problems) {
    if (!sweep.scheduler.empty()) return;
    if (options.firstRung) problems.push_back({"--first-rung", "sweep.without-scheduler", {}});
    if (options.reduction) problems.push_back({"--reduction", "sweep.without-scheduler", {}});
}

// Folders and tables may have validation samples of their own; whoever opens them knows.
bool mayValidate(const SweepSpec& sweep) {
    constexpr std::string_view kNone[] = {"fashion-mnist", "idx", "cifar10", "cifar100", "synthetic", "text"};
    return sweep.trial.validationShare > 0 || std::ranges::find(kNone, sweep.trial.dataset.id) == std::end(kNone);
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
    command
        .add_option(
            "--method", options.method,
            "How cells are chosen: grid, random (unless said), sobol; by what was learned from those before: tpe,\n"
            "tpe-univariate, gp; auto takes one that fits")
        ->type_name("NAME");
    command.add_option("--trials", options.trials, "Cells to try (20 unless said); of a grid at most so many, 0: all")
        ->type_name("N")
        ->check(anyWhole());
    command.add_option("--repeats", options.repeats, "Trials of each cell, with a seed of its own each")
        ->type_name("N")
        ->check(anyWhole());
    command
        .add_option_function<std::string>(
            "--objective", [&options](const std::string& words) { options.objective = objectiveKey(words); },
            "What the best cell is chosen by, for example validation.accuracy; unless said, what counts for the "
            "model.\n"
            "branin, hartmann6 or table:FILE (CSV: a column for each setting, the loss last): train nothing, and try\n"
            "the method on this function; --seed is then that of what is suggested")
        ->type_name("METRIC");
    command
        .add_option("--scheduler", options.scheduler,
                    "asha: cells pause at rungs, and the better ones go on to the next\nasha-stopping: each goes on at "
                    "once or never; unless said, all train their epochs")
        ->type_name("NAME");
    command.add_option("--first-rung", options.firstRung, "Epochs to the lowest rung (1 unless said)")
        ->type_name("N")
        ->check(anyWhole());
    command.add_option("--reduction", options.reduction, "Of so many cells at a rung one goes on (3 unless said)")
        ->type_name("N")
        ->check(anyWhole());
    command.add_option("--parallel", options.parallel, "Trials at once, as far as the machine has room")
        ->type_name("N")
        ->check(anyWhole());
    command
        .add_option(
            "--retries", options.retries,
            "How often a trial that failed is tried again (2 unless said); attempts count that\ncame no further "
            "than the one before")
        ->type_name("N")
        ->check(anyWhole());
    command
        .add_option("--max-failures", options.maxFailures, "Failed cells that end the sweep; 0: when all have failed")
        ->type_name("N")
        ->check(anyWhole());
    command.add_option("--sweep-seed", options.seed, "Of what is suggested; trials have seeds of their own")
        ->type_name("N")
        ->check(anySeed());
}

std::vector<std::string> givenOptions(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* each : command.get_options()) {
        if (each->count() > 0) names.push_back(each->get_name());
    }
    return names;
}

std::optional<SweepSpec> statedSweep(const SweepOptions& options, std::vector<Problem>& problems) {
    auto start = startingPoint(options, problems);
    if (!start) return std::nullopt;
    SweepSpec sweep = std::move(*start);
    addVaried(options, sweep, problems);
    take(options.method, sweep.method), take(options.objective, sweep.objective), take(options.trials, sweep.trials);
    take(options.repeats, sweep.repeats), take(options.parallel, sweep.parallel), take(options.retries, sweep.retries);
    take(options.scheduler, sweep.scheduler), take(options.firstRung, sweep.firstRung);
    take(options.reduction, sweep.reduction), take(options.maxFailures, sweep.maxFailures),
        take(options.seed, sweep.seed);
    if (sweep.method == "grid" && !options.trials && options.file.empty()) sweep.trials = 0;
    return sweep;
}

Result<SweepSpec> sweepFrom(const SweepOptions& options, const Environment& environment) {
    std::vector<Problem> problems;
    auto stated = statedSweep(options, problems);
    if (!stated) return problems;
    SweepSpec sweep = std::move(*stated);
    addProblemsOfRungs(options, sweep, problems);
    const auto trial = specFrom(options.trial, sweep.trial, environment);
    if (!trial.ok()) {
        append(problems, trial.problems());
        return problems;
    }
    sweep.trial = trial.value();
    if (sweep.title.empty()) sweep.title = sweep.trial.title;
    holdOutWhereAsked(sweep);
    adoptKinds(sweep, [&](const TrialSpec& spec, const std::string& path) { return fieldOf(environment, spec, path); });
    const auto space = spaceOf(sweep);
    if (space.ok()) addProblemsOfValues(space.value(), sweep, environment, problems);
    else addProblemsOfSpace(space.problems(), sweep, environment, problems);
    addProblemsOfConstraints(sweep, environment, problems);
    if (auto problem = problemOfObjective(sweep, environment)) problems.push_back(std::move(*problem));
    if (!problems.empty()) return problems;
    if (auto problem = problemOfNoCells(sweep, space.value())) return std::move(*problem);
    return sweep;
}

}  // namespace lockstep
