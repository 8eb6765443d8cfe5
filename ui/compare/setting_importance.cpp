#include "ui/compare/setting_importance.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/queue/tried_cells.h"

namespace lockstep::ui {

namespace {

Dimension dimensionOf(const CompareAxis& axis) {
    Dimension dimension{.path = axis.key, .values = {}};
    if (axis.isChoice()) {
        ChoiceOfValues choices;
        for (const QString& choice : axis.choices) choices.emplace_back(choice.toStdString());
        dimension.values = std::move(choices);
        return dimension;
    }
    const bool isWhole = std::ranges::all_of(
        axis.values, [](double value) { return !std::isfinite(value) || value == std::round(value); });
    dimension.values = NumberRange{.low = axis.low, .high = axis.high, .isLog = axis.isLog, .isWhole = isWhole};
    return dimension;
}

Cell cellOfRow(const CompareTable& table, const std::vector<std::size_t>& axes, std::size_t row) {
    Cell cell;
    for (const auto at : axes) {
        const CompareAxis& axis = table.axes[at];
        if (axis.absences[row] != Absence::None) continue;
        const double value = axis.values[row];
        cell.push_back({axis.key, axis.isChoice() ? ParamValue(axis.text(value).toStdString()) : ParamValue(value)});
    }
    return cell;
}

// One entry a group: repeats would vouch for each other.
std::vector<Tried> triedGroups(const CompareScene& scene, const std::vector<std::size_t>& axes, bool ofBrushed) {
    const CompareTable& table = *scene.table;
    const CompareAxis& objective = table.axes[*table.objective];
    std::map<std::int64_t, std::vector<std::size_t>> groups;
    for (std::size_t row = 0; row < table.trials.size(); ++row) {
        const bool counts = table.trials[row].state == RunState::Finished && std::isfinite(objective.values[row]);
        if (counts && (!ofBrushed || scene.passes[row])) groups[table.trials[row].group].push_back(row);
    }
    std::vector<Tried> tried;
    for (const auto& [group, rows] : groups) {
        double sum = 0;
        for (const auto row : rows) sum += objective.values[row];
        const double mean = sum / static_cast<double>(rows.size());
        tried.push_back({cellOfRow(table, axes, rows.front()), objective.better == Better::Lower ? mean : -mean});
    }
    return tried;
}

std::vector<Tried> triedAtRung(const SweepResult& sweep, std::size_t rung) {
    std::vector<Tried> tried;
    for (const Climber& each : sweep.climbers) {
        const auto cell = std::ranges::find(sweep.cells, each.cell, &CellResult::number);
        if (each.losses.size() > rung && cell != sweep.cells.end())
            tried.push_back({.cell = cell->settings, .loss = each.losses[rung]});
    }
    return tried;
}

void ask(SettingImportance& found, std::span<const Dimension> dimensions, std::span<const Tried> tried) {
    found.asked = tried.size();
    found.explains = fanova(dimensions, tried);
    found.decides = pedAnova(dimensions, tried);
}

// From the highest rung down to the first at which there is an answer; where there is none, at the lowest.
SettingImportance askRungs(SettingImportance found, const SweepResult& sweep, const Rungs& rungs,
                           std::span<const Dimension> dimensions) {
    for (std::size_t rung = rungs.top(); rung-- > 0;) {
        ask(found, dimensions, triedAtRung(sweep, rung));
        found.atEpoch = rungs.epochs[rung];
        if (found.explains.verdict == ImportanceVerdict::Sound) break;
    }
    return found;
}

}  // namespace

std::vector<double> SettingImportance::byAxis(const CompareTable& table) const {
    std::vector<double> by(table.axes.size());
    const auto deciding = decides.shares();
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (explains.verdict == ImportanceVerdict::Sound)
            by[axes[i]] = explains.shares[i] ? explains.shares[i]->mean : 0;
        else if (decides.verdict == ImportanceVerdict::Sound) by[axes[i]] = deciding[i];
    }
    return by;
}

SettingImportance settingImportance(const CompareScene& scene, bool ofBrushed) {
    const CompareTable& table = *scene.table;
    SettingImportance found{.axes = {}, .explains = {}, .decides = {}, .isOfBrushed = ofBrushed};
    for (std::size_t i = 0; i < table.axes.size(); ++i)
        if (table.axes[i].isSetting) found.axes.push_back(i);
    std::vector<Dimension> dimensions;
    std::vector<Tried> tried;
    if (scene.sweep && !ofBrushed) {
        dimensions = scene.sweep->spec.vary;
        tried = triedCells(*scene.sweep);
        const auto rungs = rungsOf(scene.sweep->spec);
        if (rungs && tried.size() < kFewestTried) return askRungs(std::move(found), *scene.sweep, *rungs, dimensions);
    } else {
        for (const auto axis : found.axes) dimensions.push_back(dimensionOf(table.axes[axis]));
        if (table.objective) tried = triedGroups(scene, found.axes, ofBrushed);
    }
    ask(found, dimensions, tried);
    return found;
}

}  // namespace lockstep::ui
