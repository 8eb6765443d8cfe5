#pragma once
#include <optional>
#include <vector>

#include "engine/search/fanova.h"
#include "engine/search/ped_anova.h"
#include "ui/compare/compare_scene.h"

namespace lockstep::ui {

// How much each setting of a comparison mattered, by two questions that stay apart: which explains the differences
// between all trials, and which decides whether a trial is among the best.
struct SettingImportance {
    std::vector<std::size_t> axes;  // of the table: its settings, as the figures below are ordered
    Fanova explains;
    PedAnova decides;
    std::size_t asked = 0;     // trials, or groups of repeats, that were to be asked
    std::int64_t atEpoch = 0;  // what cells had come to by then; 0: to their ends
    bool isOfBrushed = false;  // else of all
    // By axis of the table, 0 … 1: of the first question that has an answer; all 0 where none has.
    std::vector<double> byAxis(const CompareTable& table) const;
};

// Of a sweep, all of it: the figures of `lockstep importance`; where too few cells are trained to their ends, those of
// `--rung` at the highest rung that has an answer. Of others, and of what the
// brushes leave, the groups of the table: those that differ in their seed alone count once, with their mean. Pure;
// tenths of a second for thousands.
SettingImportance settingImportance(const CompareScene& scene, bool ofBrushed);

}  // namespace lockstep::ui
