#pragma once
#include <QComboBox>
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

// Offers the axes of a table and keeps what was chosen by its key. `none`: words for no axis at all; empty: one must
// be.
void fillAxes(QComboBox& box, const CompareTable& table, std::optional<std::size_t> first, const QString& none = {});
std::optional<std::size_t> chosenAxis(const QComboBox& box, const CompareTable& table);

}  // namespace lockstep::ui
