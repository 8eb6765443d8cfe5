#include "ui/train/sweep_estimate.h"

#include <algorithm>
#include <cmath>

#include "engine/queue/demand.h"
#include "engine/search/grid.h"
#include "engine/search/search_points.h"

namespace lockstep::ui {

namespace {

constexpr std::int64_t kMostLookedAt = 200;  // cells; of more, some stand for all
constexpr double kMostCounted = 10'000;      // cells: while a person types

bool isCountable(const SearchSpace& space) {
    return std::ranges::all_of(space.dimensions(), [](const Dimension& each) { return each.count().has_value(); });
}

std::vector<Cell> someCells(const SweepSpec& sweep, const SearchSpace& space, std::int64_t cells) {
    if (sweep.method == "grid" && gridSize(space) <= static_cast<double>(kMostLookedAt)) return gridCells(space);
    const std::string_view method = sweep.method == "sobol" ? "sobol" : "random";
    std::vector<Cell> some;
    for (std::uint32_t i = 0; i < std::min(cells, kMostLookedAt); ++i) {
        if (auto cell = space.cellAt(searchPoint(method, sweep.seed, i, space.dimensions().size())))
            some.push_back(std::move(*cell));
    }
    return some;
}

const Dimension* variedDevices(const SweepSpec& sweep) {
    const auto at = std::ranges::find(sweep.vary, "devices", &Dimension::path);
    return at == sweep.vary.end() ? nullptr : &*at;
}

int fittingAtOnce(const std::string& devices, const DeviceRequest& machine) {
    const Demand each = demandOf(devices, machine), all = wholeMachine(machine);
    const auto cards = static_cast<int>(each.cards.size());
    if (cards > 0) return static_cast<int>(all.cards.size()) / cards;
    return each.cores > 0 ? all.cores / each.cores : 1;
}

// Of all epochs.
double shareTrained(const SweepSpec& sweep, std::int64_t cells) {
    const auto estimate = rungEstimate(sweep, cells);
    return estimate && estimate->all > 0 ? static_cast<double>(estimate->epochs) / static_cast<double>(estimate->all)
                                         : 1;
}

}  // namespace

std::int64_t cellsOf(const SweepSpec& sweep, const SearchSpace& space) {
    double all = HUGE_VAL;
    if (isCountable(space)) {
        all = gridSize(space);
        const bool isExact = space.constraints().empty() || all > static_cast<double>(kMostGridCells);
        if (!isExact) all = static_cast<double>(gridCells(space).size());
    }
    return static_cast<std::int64_t>(sweep.trials > 0 ? std::min(all, static_cast<double>(sweep.trials)) : all);
}

// Of those that take most, where devices are varied.
std::optional<ConstraintCounts> constraintCounts(const SweepSpec& sweep, const SearchSpace& space) {
    if (sweep.method != "grid" || space.constraints().empty() || gridSize(space) > kMostCounted) return std::nullopt;
    ConstraintCounts counts{static_cast<std::int64_t>(gridSize(space)), {}};
    for (const Constraint& each : space.constraints()) {
        const auto alone = SearchSpace::from(space.dimensions(), {each}, sweep.trial);
        if (alone.ok()) counts.meeting[each.text()] = static_cast<std::int64_t>(gridCells(alone.value()).size());
    }
    return counts;
}

int trialsAtOnce(const SweepSpec& sweep, const DeviceRequest& machine) {
    int fit = fittingAtOnce(sweep.trial.devices, machine);
    const auto* varied = variedDevices(sweep);
    const auto* choices = varied ? std::get_if<ChoiceOfValues>(&varied->values) : nullptr;
    if (choices) {
        fit = static_cast<int>(sweep.parallel);
        for (const ParamValue& each : *choices) fit = std::min(fit, fittingAtOnce(text(each), machine));
    }
    return std::clamp(fit, 1, static_cast<int>(std::max<std::int64_t>(sweep.parallel, 1)));
}

std::optional<RungEstimate> rungEstimate(const SweepSpec& sweep, std::int64_t cells) {
    const auto rungs = rungsOf(sweep);
    if (!rungs) return std::nullopt;
    RungEstimate estimate{.plan = planOf(*rungs, cells), .all = cells * sweep.trial.epochs};
    estimate.epochs = epochsOf(estimate.plan);
    return estimate;
}

std::optional<double> sweepSeconds(const SweepSpec& sweep, const SearchSpace& space, double samplesPerEpoch, int atOnce,
                                   const MeasuredSpeeds& speeds) {
    const std::int64_t cells = cellsOf(sweep, space);
    const auto looked = someCells(sweep, space, cells);
    double seconds = 0;
    for (const Cell& cell : looked) {
        const TrialSpec trial = trialOf(sweep.trial, cell);
        const auto each = speeds.secondsPerSample(trial);
        if (!each || trial.dataset != sweep.trial.dataset || trial.dataPath != sweep.trial.dataPath)
            return std::nullopt;
        seconds += *each * samplesPerEpoch * static_cast<double>(trial.epochs);
    }
    if (looked.empty()) return std::nullopt;
    const double trials = static_cast<double>(cells) * static_cast<double>(sweep.repeats);
    return seconds / static_cast<double>(looked.size()) * trials * shareTrained(sweep, cells) / std::max(atOnce, 1);
}

}  // namespace lockstep::ui
