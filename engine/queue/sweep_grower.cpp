#include "engine/queue/sweep_grower.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "engine/queue/failure_cause.h"
#include "engine/queue/queue_problem.h"
#include "engine/queue/same_trial.h"
#include "engine/queue/sweep_progress.h"
#include "engine/queue/sweep_results.h"
#include "engine/queue/tried_cells.h"
#include "engine/search/cell_count.h"
#include "engine/search/chosen_method.h"
#include "engine/search/suggest.h"
#include "engine/trials/disk_service.h"

namespace lockstep {

namespace {

// As far as its row says.
bool isOnItsWayElsewhere(const GroupTrial& trial) {
    return trial.adopted && trial.trial && trial.state != RunState::Finished;
}

}  // namespace

// True: trials were made, or cancelled.
bool SweepGrower::grow(const std::vector<QueuedTrial>& queue) {
    bool changed = false;
    m_limits.clear();
    for (const TrialGroup& group : QueueQuery(m_host.trials.query()).groups(true)) {
        if (group.kind != "sweep") continue;
        if (group.state == GroupState::Cancelled || group.state == GroupState::Failed) {
            changed = dropWaiting(queue, group.id) || changed;
            continue;
        }
        if (group.state == GroupState::Paused) {
            m_limits[group.id] = {1, true};
            continue;
        }
        const auto open = std::ranges::count_if(queue, [&](const QueuedTrial& each) { return each.group == group.id; });
        changed = growOne(group, open) || changed;
    }
    return changed;
}

bool SweepGrower::growOne(const TrialGroup& group, std::int64_t open) {
    Sweep* sweep = sweepOf(group);
    if (!sweep) return false;
    m_limits[group.id] = {sweep->spec.parallel, false};
    const bool hasRungs = !sweep->spec.scheduler.empty();
    const std::int64_t wanted = trialsToMake(sweep->spec, open, hasRungs || sweep->learns);
    if (wanted == 0 || (sweep->isExhausted && open > 0 && !hasRungs)) return false;
    Seen seen = see(group.id, *sweep);
    if (std::ranges::count_if(seen.trials, [this](const GroupTrial& each) { return giveBack(each); }) > 0)
        seen = see(group.id, *sweep);
    if (const auto problem = tooManyFailures(sweep->spec, seen.trials, failureIn(sweep->spec, seen.trials))) {
        end(group, GroupState::Failed, problemText(*problem));
        return true;
    }
    std::int64_t made = 0;
    for (bool more = true; more && made < wanted;) {
        const auto next = makeNext(group.id, *sweep, seen);
        more = next != Made::Nothing;
        made += next == Made::Trial ? 1 : 0;
    }
    const bool isOver = std::ranges::none_of(seen.trials, isOnItsWayElsewhere);
    if (made > 0 || open > 0 || !isOver) return made > 0;
    if (hasRungs) freePaused(*sweep, seen);
    const auto problem = sweep->cells.empty()
                             ? problemOfNoCells(sweep->spec, sweep->space)
                             : tooManyFailures(sweep->spec, seen.trials, failureIn(sweep->spec, seen.trials), true);
    end(group, problem ? GroupState::Failed : GroupState::Finished, problem ? problemText(*problem) : "");
    return made > 0;
}

// One that was made just when the sweep was cancelled; what a person has asked for by itself stays.
bool SweepGrower::dropWaiting(const std::vector<QueuedTrial>& queue, std::int64_t group) {
    bool dropped = false;
    for (const QueuedTrial& each : queue) {
        if (each.group != group || each.isRunning || each.entry.asked == each.attempts) continue;
        dropped = dropOne(each.entry.trial, each.state == RunState::Queued) || dropped;
    }
    return dropped;
}

// False: somebody has just begun to run it.
bool SweepGrower::dropOne(std::int64_t trial, bool isQueued) {
    if (isQueued && !m_host.trials.cancelQueued(trial)) return false;
    queueStore().remove(trial);
    return true;
}

// Its trials that wait are cancelled; those that run end as they will.
void SweepGrower::end(const TrialGroup& group, GroupState state, const std::string& reason) {
    m_limits.erase(group.id);
    m_sweeps.erase(group.id);
    if (!queueStore().leaveActive(group, state, reason)) return;
    say("sweep " + std::to_string(group.id) + " has " + std::string(text(state)));
    for (const GroupTrial& each : QueueQuery(m_host.trials.query()).trials(group.id)) {
        if (!each.trial || !each.isQueued || each.adopted || m_host.isTaken(*each.trial)) continue;
        dropOne(*each.trial, each.state == RunState::Queued);
    }
}

std::optional<Problem> SweepGrower::failureIn(const SweepSpec& sweep, std::span<const GroupTrial> made) {
    return firstFailure(m_host.trials.query(), sweep, made);
}

// An adopted trial that will not finish: the sweep trains its cell itself. False: it may, or is none.
bool SweepGrower::giveBack(const GroupTrial& trial) {
    if (!trial.trial || !isOnItsWayElsewhere(trial)) return false;
    if (mayStayAdopted(m_host.trials.query(), *trial.trial, m_host.isTaken)) return false;
    queueStore().freePlace(trial.place);
    say("trial " + std::to_string(*trial.trial) + " did not finish: sweep " + std::to_string(trial.place.group) +
        " trains its cell itself");
    return true;
}

SweepGrower::Seen SweepGrower::see(std::int64_t group, const Sweep& sweep) {
    const TrialQuery& query = m_host.trials.query();
    const bool hasRungs = !sweep.spec.scheduler.empty();
    Seen seen{.trials = QueueQuery(query).trials(group)};
    if (hasRungs || sweep.learns) seen.objective = objectiveOf(query, sweep.spec, seen.trials);
    if (hasRungs && seen.objective) seen.rungs = rungFactsOf(QueueQuery(query), *seen.objective, group);
    return seen;
}

SweepGrower::Made SweepGrower::makeNext(std::int64_t group, Sweep& sweep, Seen& seen) {
    auto place = nextPlace(group, std::ssize(sweep.cells), sweep.spec.repeats, seen.trials);
    if (!place) {
        if (letNextGoOn(group, sweep, seen)) return Made::Trial;
        auto cell = sweep.isExhausted ? std::nullopt : nextCellOf(sweep, seen);
        sweep.isExhausted = !cell;
        if (!cell) return Made::Nothing;
        place = {group, std::ssize(sweep.cells), 0};
        queueStore().addCell(group, {place->cell, cellText(*cell)});
        sweep.cells.push_back(std::move(*cell));
    }
    return makeTrial(*place, sweep, sweep.cells[static_cast<std::size_t>(place->cell)], seen);
}

// Methods that learn look at what came out.
std::optional<Cell> SweepGrower::nextCellOf(Sweep& sweep, const Seen& seen) {
    if (!sweep.learns) return nextCell(sweep.spec, sweep.space, sweep.cells);
    std::vector<Climber> climbers;
    if (seen.objective)
        climbers = climbersOf(sweep.spec, *seen.objective, seen.trials, seen.rungs.values, seen.rungs.arrivals);
    const auto best = [&](std::int64_t trial) {
        return seen.objective ? bestOf(trial, sweep, *seen.objective) : std::nullopt;
    };
    const auto known = suggestedCells(sweep.spec, seen.objective, sweep.cells, seen.trials, climbers, best);
    return nextCell(sweep.spec, sweep.space, known);
}

std::optional<double> SweepGrower::bestOf(std::int64_t trial, Sweep& sweep, const Metric& objective) {
    const auto known = sweep.finished.find(trial);
    if (known != sweep.finished.end()) return known->second;
    const auto row = m_host.trials.query().find(trial);
    const auto value = row ? best(*row, objective) : std::nullopt;
    return sweep.finished.emplace(trial, value).first->second;
}

// A trial at a rung, to the next one.
bool SweepGrower::letNextGoOn(std::int64_t group, const Sweep& sweep, Seen& seen) {
    const auto rungs = rungsOf(sweep.spec);
    if (!rungs || !seen.objective) return false;
    const auto climbers = climbersOf(sweep.spec, *seen.objective, seen.trials, seen.rungs.values, seen.rungs.arrivals);
    for (const RungArrival& each : newArrivals(climbers, seen.rungs.arrivals)) {
        queueStore().noteArrival(group, each);
        seen.rungs.arrivals.push_back(each);
    }
    const auto next = nextAscent(*rungs, climbers, seen.trials);
    if (!next) return false;
    queueStore().letGoOn(next->place, next->untilEpoch, sweep.spec.retries);
    say("cell " + std::to_string(next->place.cell) + " of sweep " + std::to_string(group) + " goes on to epoch " +
        std::to_string(next->untilEpoch.value_or(sweep.spec.trial.epochs)));
    const auto climbs = std::ranges::find(seen.trials, next->place, &GroupTrial::place);
    climbs->untilEpoch = next->untilEpoch;
    climbs->isQueued = climbs->trial.has_value();
    return true;
}

// What paused at a rung and did not earn more goes nowhere from there. A sweep that is extended trains it anew. Where
// none has finished, the best at the highest rung is what the sweep came to.
void SweepGrower::freePaused(const Sweep& sweep, const Seen& seen) {
    std::optional<std::int64_t> kept;
    const bool hasFinished =
        std::ranges::find(seen.trials, RunState::Finished, &GroupTrial::state) != seen.trials.end();
    if (!hasFinished && seen.objective)
        kept = leaderOf(climbersOf(sweep.spec, *seen.objective, seen.trials, seen.rungs.values, seen.rungs.arrivals));
    FreeRequest request;
    request.keep = StaysKept{.newest = false};
    request.atRungs = true;
    for (const GroupTrial& each : seen.trials) {
        if (each.trial && each.state == RunState::Stopped && each.untilEpoch && each.place.cell != kept)
            request.trials.push_back({*each.trial, *each.trial});
    }
    if (request.trials.empty()) return;
    DiskService disk(m_host.trials);
    disk.free(planFreeing(disk.weigh(), request, std::time(nullptr)));
}

// Where it was there before, what it has come to is not among what was seen: the sweep is looked at anew.
SweepGrower::Made SweepGrower::makeTrial(const GroupPlace& place, const Sweep& sweep, const Cell& cell, Seen& seen) {
    const TrialSpec spec = trialAt(sweep.spec, cell, place.repeat);
    const bool hasRungs = !sweep.spec.scheduler.empty();
    const SameTrial same = sameTrial(m_host.trials.query(), spec, cell, hasRungs, m_host.isTaken);
    if (!same.refusal.empty()) say("sweep " + std::to_string(place.group) + ": " + same.refusal);
    if (same.trial) {
        queueStore().adopt(place, *same.trial);
        // Of a sweep that learns, or decides at rungs, what it has come to matters at once.
        if (hasRungs || sweep.learns) seen = see(place.group, sweep);
        else
            seen.trials.push_back({.place = place,
                                   .trial = same.trial,
                                   .adopted = true,
                                   .state = same.hasFinished ? RunState::Finished : RunState::Queued,
                                   .isQueued = !same.hasFinished});
        say("trial " + std::to_string(*same.trial) + " is a cell of sweep " + std::to_string(place.group) + " already");
        return Made::Adopted;
    }
    QueueEntry entry;
    entry.retries = sweep.spec.retries;
    const auto rungs = rungsOf(sweep.spec);
    const auto untilEpoch = rungs ? std::optional(rungs->epochs.front()) : std::nullopt;
    const auto trial = queueStore().createTrial(spec, m_host.trials.places().runs(), entry, place, untilEpoch);
    seen.trials.push_back(
        {.place = place, .trial = trial, .state = RunState::Queued, .isQueued = true, .untilEpoch = untilEpoch});
    return Made::Trial;
}

// Null: it cannot be read, and has failed.
SweepGrower::Sweep* SweepGrower::sweepOf(const TrialGroup& group) {
    const auto known = m_sweeps.find(group.id);
    if (known != m_sweeps.end() && known->second.json == group.specJson) return &known->second;
    auto spec = sweepFromJson(group.specJson, "");
    auto space = spec.ok() ? spaceOf(spec.value()) : Result<SearchSpace>(spec.problems());
    if (!space.ok()) {
        end(group, GroupState::Failed, problemText(space.problems().front()));
        return nullptr;
    }
    std::vector<Cell> cells;
    try {
        for (const GroupCell& each : QueueQuery(m_host.trials.query()).cells(group.id))
            cells.push_back(cellFrom(each.settings));
    } catch (const ProblemError& error) {
        if (error.problem().code != "group.malformed") throw;
        end(group, GroupState::Failed, problemText(error.problem()));
        return nullptr;
    }
    const bool learns = lockstep::learns(chosenMethod(spec.value(), space.value()).method);
    Sweep sweep{std::move(spec).value(), std::move(space).value(), group.specJson, std::move(cells), learns};
    return &m_sweeps.insert_or_assign(group.id, std::move(sweep)).first->second;
}

void SweepGrower::say(const std::string& line) const {
    if (m_host.log) m_host.log(line);
}

}  // namespace lockstep
