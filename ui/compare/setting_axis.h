#pragma once
#include <string>
#include <vector>

#include "engine/search/dimension.h"
#include "ui/compare/compare_table.h"

namespace lockstep::ui {

// The axis of a setting, for these trials. Where all its values are numbers it is one of numbers; else of what is
// written, in the order of the space that was searched. `dimension`: of that space; null: it was not varied there.
CompareAxis settingAxis(const std::string& path, const std::vector<TrialRow>& rows, const SettingValues& values,
                        const Dimension* dimension);

}  // namespace lockstep::ui
