#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "engine/report/sweep_report.h"

namespace lockstep::test {

inline double fraction(double value) { return value - std::floor(value); }

inline report::ReportedTrial madeTrial(std::int64_t number, RunState state, std::int64_t epochs, double value) {
    report::ReportedTrial trial{.trial = number, .state = state, .epoch = epochs, .seconds = 10};
    if (epochs == 0) return trial;
    trial.value = value, trial.tested = value - 0.01;
    for (std::int64_t epoch = 1; epoch <= epochs; ++epoch)
        trial.curve.push_back({static_cast<double>(epoch), value - 0.3 / static_cast<double>(epoch * epoch)});
    return trial;
}

// A log range, two choices and a setting that only one of them has; beyond these four, plain numbers.
inline std::vector<Dimension> madeSpace(std::size_t settings) {
    std::vector<Dimension> vary{
        {"learning_rate", NumberRange{1e-4, 1, true}},
        {"batch", ChoiceOfValues{std::int64_t{128}, std::int64_t{32}, std::int64_t{64}}},
        {"optimizer", ChoiceOfValues{std::string("sgd"), std::string("adamw")}},
        {"optimizer.momentum", NumberRange{0.5, 0.99}, {{"optimizer", {std::string("sgd")}}}},
    };
    for (std::size_t i = vary.size(); i < settings; ++i)
        vary.push_back({"model.setting_" + std::to_string(i), NumberRange{0, 1}});
    vary.resize(settings);
    return vary;
}

inline Cell madeCell(const std::vector<Dimension>& vary, std::int64_t number) {
    Cell cell;
    for (std::size_t i = 0; i < vary.size(); ++i) {
        const double u = fraction(static_cast<double>(number + 1) * std::sqrt(2 + 1.37 * static_cast<double>(i)));
        if (vary[i].when.empty() || cell[2].value == vary[i].when[0].values[0])
            cell.push_back({vary[i].path, vary[i].valueAt(u)});
    }
    return cell;
}

// A sweep that nobody ran: each eleventh cell failed, each thirteenth diverged, each seventh was cut short at the third
// of nine epochs; the others have come to an accuracy that the rate decides, and their trials lie 0.004 apart.
inline report::SweepFacts madeSweep(std::int64_t cells, std::size_t settings, std::int64_t repeats = 3) {
    report::SweepFacts facts;
    facts.group.id = 3, facts.group.title = "wide nets", facts.group.state = GroupState::Finished;
    facts.group.createdAt = "2026-11-20T12:49:57.471Z", facts.group.finishedAt = "2026-11-20T13:49:57.471Z";
    facts.spec.title = facts.group.title, facts.spec.repeats = repeats, facts.spec.trials = cells;
    facts.spec.trial.epochs = 9, facts.spec.trial.model.id = "lenet5", facts.spec.trial.dataset.id = "fashion-mnist";
    facts.spec.vary = madeSpace(settings);
    facts.method = facts.spec.method;
    facts.objective = findMetric("validation_accuracy"), facts.tested = findMetric("test_accuracy");
    facts.planned = cells * repeats;
    for (std::int64_t i = 0; i < cells; ++i) {
        const bool fails = i % 11 == 10, diverges = i % 13 == 12, isCut = i % 7 == 6;
        const RunState state = fails || diverges ? RunState::Failed : isCut ? RunState::Stopped : RunState::Finished;
        report::ReportedCell cell{.number = i, .settings = madeCell(facts.spec.vary, i), .state = "made"};
        const double rate = std::get<double>(cell.settings[0].value);
        const double mean = 0.9 - 0.02 * std::pow(std::log10(rate) + 1.5, 2);
        for (std::int64_t repeat = 0; repeat < repeats; ++repeat) {
            const double value = mean + 0.004 * static_cast<double>(repeat - (repeats - 1) / 2);
            auto trial = madeTrial(1 + i * repeats + repeat, state,
                                   state == RunState::Finished           ? 9
                                   : isCut && state == RunState::Stopped ? 3
                                                                         : 0,
                                   value);
            if (state == RunState::Failed)
                trial.failure = report::CardMessage{"failure", fails ? "It ran out of memory." : "Numbers were none.",
                                                    "Take a smaller batch."};
            trial.hasDiverged = state == RunState::Failed && !fails;
            cell.trials.push_back(std::move(trial));
        }
        cell.mean = cell.deviation = std::numeric_limits<double>::quiet_NaN();
        if (state == RunState::Finished) {
            cell.count = repeats, cell.bestTrial = cell.trials.back().trial, cell.mean = mean;
            if (repeats > 1) cell.deviation = 0.004;
            facts.tried.push_back({cell.settings, -mean});
            facts.finished += repeats;
        }
        facts.failed += state == RunState::Failed ? repeats : 0;
        facts.atRungs += state == RunState::Stopped ? repeats : 0;
        facts.cells.push_back(std::move(cell));
        facts.ranking.push_back(static_cast<std::size_t>(i));
    }
    std::ranges::stable_sort(facts.ranking, [&](std::size_t a, std::size_t b) {
        const auto &one = facts.cells[a], &other = facts.cells[b];
        if (one.count == 0 || other.count == 0) return one.count > other.count;
        return one.mean > other.mean;
    });
    RunStarted started;
    started.software = "Lockstep 0.1.0, oneDNN 2.6.3", started.hardware = {"A processor, 2 cores"};
    started.devices = {"cpu:0"}, started.threads = {1};
    facts.machines = {{started, cells * repeats}};
    facts.program = "Lockstep 0.1.0", facts.writtenAt = "2026-11-21T08:00:00Z";
    return facts;
}

}  // namespace lockstep::test
