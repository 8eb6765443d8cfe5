#pragma once
#include "ui/compare/compare_scene.h"

// Made facts for tests of the comparison's views: nothing is read from a history.
namespace lockstep::test {

using namespace lockstep::ui;

inline TrialRow madeRow(std::int64_t id, std::optional<double> accuracy, const std::string& state = "finished") {
    TrialRow row;
    row.id = id;
    row.state = state;
    row.epoch = row.epochs = 9;
    row.validationAccuracy = accuracy;
    row.bestAccuracy = accuracy;
    row.seconds = 10.0 * static_cast<double>(id);
    return row;
}

// A sweep over a logarithmic rate, a batch, and a momentum that only sgd has: nine trials of which one diverged, one
// failed and one was stopped after three epochs. Trial 7 is the best.
inline CompareFacts madeFacts() {
    CompareFacts facts;
    SweepResult sweep;
    sweep.group.id = 1;
    sweep.objective = findMetric("validation_accuracy");
    sweep.spec.vary = {{"learning_rate", NumberRange{.low = 0.001, .high = 1, .isLog = true}},
                       {"optimizer", ChoiceOfValues{std::string("sgd"), std::string("adamw")}},
                       {"optimizer.momentum", NumberRange{.low = 0, .high = 1}}};
    const std::vector<std::optional<double>> accuracies{0.80, 0.82, {}, 0.85, {}, 0.70, 0.93, 0.91, 0.60};
    for (std::int64_t id = 1; id <= 9; ++id) {
        TrialRow row = madeRow(id, accuracies[static_cast<std::size_t>(id - 1)]);
        facts.settings["learning_rate"][id] = 0.001 * static_cast<double>(id * id);
        const bool isSgd = id % 3 != 0;
        facts.settings["optimizer"][id] = std::string(isSgd ? "sgd" : "adamw");
        if (isSgd) facts.settings["optimizer.momentum"][id] = 0.1 * static_cast<double>(id);
        sweep.cells.push_back({.number = id - 1, .settings = {}, .trials = {id}});
        facts.rows.push_back(row);
    }
    facts.rows[2].state = "failed", facts.rows[2].failure = "non-finite in loss: it is nan";
    facts.rows[4].state = "crashed";
    facts.rows[5].state = "stopped", facts.rows[5].epoch = 3;
    facts.sweep = std::move(sweep);
    return facts;
}

inline SharedScene sceneOf(const CompareFacts& facts, const Brushes& brushes = {}) {
    auto scene = std::make_shared<CompareScene>();
    auto table = std::make_shared<const CompareTable>(compareTable(facts));
    scene->passes = table->passing(brushes);
    scene->ranking = table->ranking();
    if (facts.sweep) scene->sweep = std::make_shared<const SweepResult>(*facts.sweep);
    scene->table = table;
    return scene;
}

}  // namespace lockstep::test
