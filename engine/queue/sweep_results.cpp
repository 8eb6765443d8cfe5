#include "engine/queue/sweep_results.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/queue/sweep_progress.h"
#include "engine/search/grid.h"
#include "engine/trials/judged_state.h"

namespace lockstep {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// What counts for its trials, as the first that has begun says.
const Metric* objectiveOf(const TrialQuery& query, const SweepSpec& sweep, const std::vector<GroupTrial>& trials) {
    if (!sweep.objective.empty()) return findMetric(sweep.objective);
    for (const GroupTrial& each : trials) {
        const auto started = each.trial ? query.started(*each.trial) : std::nullopt;
        if (started) return metricsFor(started->task, started->chooses()).objective;
    }
    return nullptr;
}

// Numbers of one cell, by Welford's method.
struct Moments {
    std::int64_t count = 0;
    double mean = 0, squares = 0;
    void add(double value) {
        ++count;
        const double before = value - mean;
        mean += before / static_cast<double>(count);
        squares += before * (value - mean);
    }
};

}  // namespace

SweepSpec sweepOf(const TrialGroup& group) {
    auto sweep = sweepFromJson(group.specJson, "");
    if (!sweep.ok()) throw ProblemError(sweep.problems().front());
    return std::move(sweep).value();
}

std::int64_t plannedTrials(const SweepSpec& sweep) {
    const auto space = spaceOf(sweep);
    if (!space.ok()) return 0;
    const auto& dimensions = space.value().dimensions();
    const bool isCountable =
        std::ranges::all_of(dimensions, [](const Dimension& each) { return each.count().has_value(); });
    double cells = isCountable ? gridSize(space.value()) : std::numeric_limits<double>::infinity();
    if (!space.value().constraints().empty() && cells <= static_cast<double>(kMostGridCells))
        cells = static_cast<double>(gridCells(space.value()).size());
    if (sweep.trials > 0) cells = std::min(cells, static_cast<double>(sweep.trials));
    return static_cast<std::int64_t>(cells) * sweep.repeats;
}

std::optional<double> SweepResult::secondsLeft() const {
    const std::int64_t left = planned - ended;
    if (secondsEach <= 0 || left <= 0) return std::nullopt;
    const std::int64_t atOnce = std::max<std::int64_t>(1, running > 0 ? running : spec.parallel);
    return secondsEach * static_cast<double>(left) / static_cast<double>(atOnce);
}

SweepResult sweepResult(const TrialQuery& query, std::int64_t group) {
    const QueueQuery queue(query);
    const auto found = queue.group(group);
    if (!found) throw ProblemError({"sweep", "group.unknown", {std::to_string(group)}});
    SweepResult result{.group = *found, .spec = sweepOf(*found)};
    const auto trials = queue.trials(group);
    result.objective = objectiveOf(query, result.spec, trials);
    result.planned = plannedTrials(result.spec);
    for (const GroupCell& each : queue.cells(group))
        result.cells.push_back({.number = each.number, .settings = cellFrom(each.settings)});
    std::vector<Moments> moments(result.cells.size());
    Moments seconds;
    for (const GroupTrial& each : trials) {
        const bool hasEnded = !each.isQueued && (!each.trial || each.isDeleted || !each.state || isFinal(*each.state));
        result.ended += hasEnded ? 1 : 0;
        const auto at = static_cast<std::size_t>(each.place.cell);
        if (at >= result.cells.size() || !each.trial) continue;
        CellResult& cell = result.cells[at];
        cell.trials.push_back(*each.trial);
        const bool finished = each.state == RunState::Finished, running = each.state && isUnderWay(*each.state);
        cell.finished += finished ? 1 : 0;
        cell.failed += each.hasFailed() ? 1 : 0;
        cell.running += running ? 1 : 0;
        cell.open += each.isQueued ? 1 : 0;
        result.adopted += each.adopted ? 1 : 0;
        const bool isFirstFailure = each.hasFailed() && result.firstFailure.empty();
        if (!finished && !isFirstFailure) continue;
        const auto row = query.find(*each.trial);
        if (isFirstFailure && row) result.firstFailure = row->failure.empty() ? row->state : row->failure;
        if (!finished) continue;
        if (!row) continue;
        if (row->seconds) seconds.add(*row->seconds);
        const auto value = result.objective ? best(*row, *result.objective) : std::nullopt;
        if (value && std::isfinite(*value)) moments[at].add(*value);
    }
    for (std::size_t i = 0; i < result.cells.size(); ++i) {
        CellResult& cell = result.cells[i];
        const Moments& of = moments[i];
        cell.count = of.count;
        cell.mean = of.count > 0 ? of.mean : kNone;
        cell.deviation = of.count > 1 ? std::sqrt(of.squares / static_cast<double>(of.count - 1)) : kNone;
        result.finished += cell.finished, result.failed += cell.failed;
        result.running += cell.running, result.open += cell.open;
        if (cell.count == 0) continue;
        if (!result.best || isBetter(*result.objective, cell.mean, result.cells[*result.best].mean)) result.best = i;
    }
    result.secondsEach = seconds.count > 0 ? seconds.mean : 0;
    return result;
}

std::vector<Tried> triedCells(const SweepResult& sweep) {
    std::vector<Tried> tried;
    const bool isLoss = sweep.objective && sweep.objective->better == Better::Lower;
    for (const CellResult& each : sweep.cells) {
        if (each.count > 0) tried.push_back({each.settings, isLoss ? each.mean : -each.mean});
    }
    return tried;
}

}  // namespace lockstep
