#include "engine/queue/tried_cells.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "engine/queue/moments.h"
#include "engine/trials/judged_state.h"

namespace lockstep {

namespace {

double lossOf(const Metric* objective, double value) {
    return objective && objective->better == Better::Lower ? value : -value;
}

// What a cell's trials stand for together.
struct CellSum {
    std::int64_t made = 0, open = 0, paused = 0;
    Moments finished;  // of the objective
};

std::vector<CellSum> sumsOf(std::size_t cells, std::span<const GroupTrial> trials,
                            const std::function<std::optional<double>(std::int64_t)>& bestOf) {
    std::vector<CellSum> sums(cells);
    for (const GroupTrial& each : trials) {
        const auto at = static_cast<std::size_t>(each.place.cell);
        if (at >= cells) continue;
        CellSum& sum = sums[at];
        ++sum.made;
        const bool isOnItsWay = each.state && isUnderWay(*each.state) && !each.isDeleted;
        sum.open += each.isQueued || isOnItsWay ? 1 : 0;
        if (!each.trial || each.isDeleted) continue;
        sum.paused += each.isAtRung() ? 1 : 0;
        const auto value = each.state == RunState::Finished ? bestOf(*each.trial) : std::nullopt;
        if (value && std::isfinite(*value)) sum.finished.add(*value);
    }
    return sums;
}

// The best of a trial's values until the end of an epoch, where one of that epoch or behind it says that it came there.
std::optional<double> bestUntil(const Metric& objective, std::span<const GroupValue> values, std::int64_t epoch) {
    std::optional<double> best;
    for (const GroupValue& each : values) {
        const double value = objective.derive ? objective.derive(each.value) : each.value;
        if (each.epoch <= epoch && (!best || isBetter(objective, value, *best))) best = value;
    }
    const bool came = std::ranges::any_of(values, [&](const GroupValue& each) { return each.epoch >= epoch; });
    return came && best && std::isfinite(*best) ? best : std::nullopt;
}

}  // namespace

std::vector<Tried> triedCells(const SweepResult& sweep) {
    std::vector<Tried> tried;
    for (const CellResult& each : sweep.cells) {
        if (each.count > 0) tried.push_back({each.settings, lossOf(sweep.objective, each.mean)});
    }
    return tried;
}

EarlyCells triedCellsAt(const SweepResult& sweep, std::span<const GroupTrial> trials,
                        std::span<const GroupValue> values, std::int64_t epoch) {
    if (!sweep.objective) return {};
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<GroupValue>> ownValues;
    for (const GroupValue& each : values) ownValues[{each.place.cell, each.place.repeat}].push_back(each);
    std::vector<Moments> cells(sweep.cells.size());
    for (const GroupTrial& each : trials) {
        const auto at = static_cast<std::size_t>(each.place.cell);
        if (at >= cells.size() || !each.trial || each.isDeleted) continue;
        const auto best = bestUntil(*sweep.objective, ownValues[{each.place.cell, each.place.repeat}], epoch);
        if (best) cells[at].add(*best);
    }
    EarlyCells early;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        early.trials += cells[i].count;
        if (cells[i].count > 0)
            early.tried.push_back(
                {.cell = sweep.cells[i].settings, .loss = lossOf(sweep.objective, cells[i].mean), .epoch = epoch});
    }
    return early;
}

std::vector<Tried> suggestedCells(const SweepSpec& sweep, const Metric* objective, std::span<const Cell> cells,
                                  std::span<const GroupTrial> trials, std::span<const Climber> climbers,
                                  const std::function<std::optional<double>(std::int64_t trial)>& bestOf) {
    const auto rungs = rungsOf(sweep);
    const auto sums = sumsOf(cells.size(), trials, bestOf);
    std::vector<Tried> tried;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        Tried cell{.cell = cells[i], .loss = std::numeric_limits<double>::quiet_NaN(), .state = TriedState::Failed};
        const CellSum& sum = sums[i];
        const auto climber = std::ranges::find(climbers, static_cast<std::int64_t>(i), &Climber::cell);
        if (sum.open > 0 || sum.made < sweep.repeats) {
            cell.state = TriedState::Running;
        } else if (sum.finished.count > 0) {
            cell.state = TriedState::Finished;
            cell.loss = lossOf(objective, sum.finished.mean);
            cell.epoch = sweep.trial.epochs;
        } else if (sum.paused > 0 && climber != climbers.end() && !climber->losses.empty()) {
            cell.state = TriedState::Stopped;
            cell.loss = climber->losses.back();
            cell.epoch = rungs->epochs[climber->losses.size() - 1];
        }
        tried.push_back(std::move(cell));
    }
    return tried;
}

}  // namespace lockstep
