#pragma once
#include <optional>
#include <vector>

#include "ui/compare/compare_scene.h"
#include "ui/plot/chart_frame.h"

namespace lockstep::ui {

// An axis of the table along a chart; choices lie at whole numbers, half a place from the ends.
ChartAxis chartAxis(const CompareAxis& axis, int mostTicks);

// How good a value of the objective is among all: 0 of the worst, 1 of the best; not a number where there is none.
double goodness(const CompareAxis& objective, double value);

// The settings that matter most, as far as that is known, the first two of the table else.
std::vector<std::size_t> settingsByImportance(const CompareScene& scene);

}  // namespace lockstep::ui
