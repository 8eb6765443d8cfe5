#pragma once
#include <QString>
#include <QStringList>
#include <optional>
#include <vector>

#include "engine/spec/train_event.h"
#include "engine/spec/trial_spec.h"
#include "ui/compare/compare_scene.h"

namespace lockstep::ui {

// What is known of a trial beside its row.
struct TrialFacts {
    std::int64_t trial = 0;
    TrialSpec spec = {};
    std::optional<RunStarted> started = std::nullopt;  // what its latest attempt said of itself
    std::string note = {};
};

// A thing by which trials are laid beside each other: its value in each, in their order; null: it has none.
struct DiffRow {
    QString section, name, key;  // "Settings", "Momentum", "optimizer.momentum"
    QStringList values;
    bool isEqual = false;
};
// Settings, then results, then the environment, then notes. Rows of results are those of the scene's table.
std::vector<DiffRow> diffOf(const CompareScene& scene, const std::vector<TrialFacts>& trials);

// In a few sentences: by how much the better of two is better, and the settings in which they differ, those that matter
// most first, with what is known of how much they matter. Empty: not two, or none has a value.
QString whyBetter(const CompareScene& scene, const std::vector<TrialFacts>& trials);

}  // namespace lockstep::ui
