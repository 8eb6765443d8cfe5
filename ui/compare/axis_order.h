#pragma once
#include <QJsonObject>
#include <set>
#include <string>
#include <vector>

#include "ui/compare/compare_scene.h"

namespace lockstep::ui {

// What a person has made of the axes of a plot, by their keys. A plain value.
struct AxisOrder {
    std::vector<std::string> order = {};  // that a person gave them; empty: by importance
    std::set<std::string> flipped = {};
    std::set<std::string> away = {};   // of those that are shown by themselves
    std::set<std::string> added = {};  // of the others
    bool operator==(const AxisOrder&) const = default;
};

// The axes of the scene's table that are shown, from left to right: the settings that vary, the most important first
// (unknown: as the table has them), what was added, the objective last.
std::vector<std::size_t> shownAxes(const CompareScene& scene, const AxisOrder& order);
bool isShown(const CompareScene& scene, const AxisOrder& order, std::size_t axis);

// What it is after a step of a person's.
AxisOrder withMoved(const CompareScene& scene, AxisOrder order, std::size_t axis, std::size_t place);  // among shown
AxisOrder withFlipped(AxisOrder order, const std::string& key);
AxisOrder withShown(const CompareScene& scene, AxisOrder order, std::size_t axis, bool isShown);

// For settings that are kept; what cannot be read back is left out.
QJsonObject jsonOf(const AxisOrder& order);
AxisOrder axisOrderFrom(const QJsonObject& json);

}  // namespace lockstep::ui
