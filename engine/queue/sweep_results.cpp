#include "engine/queue/sweep_results.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/queue/failure_cause.h"
#include "engine/queue/moments.h"
#include "engine/queue/sweep_progress.h"
#include "engine/queue/sweep_rungs.h"
#include "engine/search/cell_count.h"
#include "engine/trials/judged_state.h"

namespace lockstep {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// What of its steps a trial that runs has behind it; 0: it has not said how many there are.
double shareDone(const TrialQuery& query, const TrialRow& row) {
    const auto started = query.started(row.id);
    const double steps = started ? static_cast<double>(started->stepsPerEpoch * started->epochs) : 0;
    return steps > 0 ? std::clamp(static_cast<double>(row.step) / steps, 0.0, 1.0) : 0;
}

// Goes through the trials of a sweep once, and says what its cells have come to.
class Summary {
public:
    Summary(const TrialQuery& query, SweepResult& result)
        : m_query(query), m_result(result), m_moments(result.cells.size()) {}

    void add(const std::vector<GroupTrial>& trials) {
        for (const GroupTrial& each : trials) {
            const bool isRemoved = !each.trial || each.isDeleted;
            const bool isOver = !each.isQueued && (!each.state || isFinal(*each.state));
            m_result.ended += isRemoved || isOver ? 1 : 0;
            const auto at = static_cast<std::size_t>(each.place.cell);
            if (at >= m_result.cells.size()) continue;
            if (isRemoved) ++m_result.cells[at].removed;
            else addTrial(each, m_result.cells[at], m_moments[at]);
        }
        m_result.firstFailure = firstFailure(m_query, m_result.spec, trials);
        for (std::size_t i = 0; i < m_result.cells.size(); ++i) close(i);
        m_result.secondsEach = m_seconds.count > 0 ? m_seconds.mean : 0;
    }

private:
    void addTrial(const GroupTrial& trial, CellResult& cell, Moments& moments) {
        const bool wasEnded = trial.state == RunState::Cancelled || trial.state == RunState::Stopped;
        cell.trials.push_back(*trial.trial);
        const bool isOnItsWay = trial.state && isUnderWay(*trial.state);
        cell.open += trial.isQueued || isOnItsWay ? 1 : 0;
        cell.paused += trial.isAtRung() ? 1 : 0;
        cell.cancelled += !trial.isQueued && wasEnded && !trial.isAtRung() ? 1 : 0;
        m_result.adopted += trial.adopted ? 1 : 0;
        if (trial.hasFailed()) ++cell.failed;
        else if (trial.state == RunState::Finished) addFinished(*trial.trial, cell, moments);
        else if (isOnItsWay) addOnItsWay(trial, cell);
    }

    void addOnItsWay(const GroupTrial& trial, CellResult& cell) {
        ++(trial.state == RunState::Paused ? cell.halted : cell.running);
        if (const auto row = m_query.find(*trial.trial)) m_result.underWay += shareDone(m_query, *row);
    }

    void addFinished(std::int64_t trial, CellResult& cell, Moments& moments) {
        ++cell.finished;
        const auto row = m_query.find(trial);
        if (!row) return;
        if (row->seconds) m_seconds.add(*row->seconds);
        const auto value = m_result.objective ? best(*row, *m_result.objective) : std::nullopt;
        if (!value || !std::isfinite(*value)) return;
        moments.add(*value);
        if (cell.bestTrial == 0 || isBetter(*m_result.objective, *value, m_bestValue)) {
            cell.bestTrial = trial;
            m_bestValue = *value;
        }
    }

    void close(std::size_t at) {
        CellResult& cell = m_result.cells[at];
        const Moments& of = m_moments[at];
        cell.count = of.count;
        cell.mean = of.count > 0 ? of.mean : kNone;
        cell.deviation = of.deviation();
        m_result.finished += cell.finished, m_result.failed += cell.failed;
        m_result.running += cell.running, m_result.open += cell.open;
        m_result.halted += cell.halted, m_result.paused += cell.paused;
        m_result.cancelled += cell.cancelled, m_result.removed += cell.removed;
        if (cell.count == 0) return;
        const bool isBest =
            !m_result.best || isBetter(*m_result.objective, cell.mean, m_result.cells[*m_result.best].mean);
        if (isBest) m_result.best = at;
    }

    const TrialQuery& m_query;
    SweepResult& m_result;
    std::vector<Moments> m_moments;  // by cell
    Moments m_seconds;
    double m_bestValue = 0;  // of the cell's best trial: a cell's trials come behind each other
};

// Where none has finished.
std::optional<std::size_t> bestAtRungIn(const SweepResult& sweep) {
    const auto leader = leaderOf(sweep.climbers);
    if (!leader) return std::nullopt;
    const auto cell = std::ranges::find(sweep.cells, *leader, &CellResult::number);
    const bool isThere = cell != sweep.cells.end() && rungValueOf(sweep, *cell);
    return isThere ? std::optional(static_cast<std::size_t>(cell - sweep.cells.begin())) : std::nullopt;
}

}  // namespace

SweepSpec sweepOf(const TrialGroup& group) {
    auto sweep = sweepFromJson(group.specJson, "");
    if (!sweep.ok()) throw ProblemError(sweep.problems().front());
    return std::move(sweep).value();
}

std::int64_t plannedTrials(const SweepSpec& sweep) {
    const auto space = spaceOf(sweep);
    if (!space.ok()) return 0;
    double cells = cellCount(space.value());
    if (sweep.trials > 0) cells = std::min(cells, static_cast<double>(sweep.trials));
    return static_cast<std::int64_t>(cells) * sweep.repeats;
}

std::optional<double> SweepResult::secondsLeft() const {
    const double left = static_cast<double>(planned - ended) - underWay;
    if (secondsEach <= 0 || left <= 0) return std::nullopt;
    const std::int64_t atOnce = std::max<std::int64_t>(1, running > 0 ? running : spec.parallel);
    return secondsEach * left / static_cast<double>(atOnce);
}

SweepResult sweepResult(const TrialQuery& query, std::int64_t group) {
    const QueueQuery queue(query);
    const auto found = queue.group(group);
    if (!found) throw ProblemError({"sweep", "group.unknown", {std::to_string(group)}});
    SweepResult result{.group = *found, .spec = sweepOf(*found)};
    const auto trials = queue.trials(group);
    result.objective = objectiveOf(query, result.spec, trials);
    result.planned = plannedTrials(result.spec);
    if (result.objective && !result.spec.scheduler.empty()) {
        const RungFacts facts = rungFactsOf(queue, *result.objective, group);
        result.climbers = climbersOf(result.spec, *result.objective, trials, facts.values, facts.arrivals);
    }
    for (const GroupCell& each : queue.cells(group))
        result.cells.push_back({.number = each.number, .settings = cellFrom(each.settings)});
    Summary(query, result).add(trials);
    if (!result.best) result.bestAtRung = bestAtRungIn(result);
    result.isVirtual = queue.hasVirtualDevices(group);
    return result;
}

std::optional<RungValue> rungValueOf(const SweepResult& sweep, const CellResult& cell) {
    const auto rungs = rungsOf(sweep.spec);
    const auto climber = std::ranges::find(sweep.climbers, cell.number, &Climber::cell);
    if (!rungs || !sweep.objective || cell.count > 0 || climber == sweep.climbers.end()) return std::nullopt;
    for (std::size_t come = climber->losses.size(); come > 0; --come) {
        const double value = valueOfLoss(*sweep.objective, climber->losses[come - 1]);
        if (std::isfinite(value)) return RungValue{static_cast<std::int64_t>(come), rungs->epochs[come - 1], value};
    }
    return std::nullopt;
}

std::optional<RungStop> rungStopOf(const SweepResult& sweep, const CellResult& cell) {
    const auto standing = standingOf(sweep.climbers, cell.number);
    if (!standing || cell.open > 0 || cell.failed > 0) return std::nullopt;
    const auto rungs = rungsOf(sweep.spec);
    if (!rungs || standing->rung == rungs->top()) return std::nullopt;
    return RungStop{*standing, std::ssize(rungs->epochs), sweep.mayGoOn()};
}

std::optional<BestAtRung> bestAtRungOf(const SweepResult& sweep) {
    if (sweep.best || !sweep.bestAtRung || !sweep.objective) return std::nullopt;
    const CellResult& cell = sweep.cells[*sweep.bestAtRung];
    const auto at = rungValueOf(sweep, cell);
    return at ? std::optional(BestAtRung{&cell, *at}) : std::nullopt;
}

}  // namespace lockstep
