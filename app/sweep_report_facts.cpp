#include "app/sweep_report_facts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "app/run_printer.h"
#include "app/sweep_text.h"
#include "engine/core/utc_time.h"
#include "engine/queue/queue_problem.h"
#include "engine/queue/sweep_rungs.h"
#include "engine/queue/tried_cells.h"
#include "engine/search/chosen_method.h"
#include "engine/search/fanova.h"

namespace lockstep {

namespace {

using report::CardMessage;
using report::ChartPoint;
using report::ReportedCell;
using report::ReportedMachine;
using report::ReportedTrial;
using report::SweepFacts;

CardMessage messageOf(const Problem& problem, const Words& words) {
    return {"failure", words.what(problem), words.remedy(problem)};
}

const Metric* sameOfTest(const Metric& metric) {
    for (const Metric& each : metrics()) {
        if (each.split == Split::Test && each.name == metric.name && (each.evaluated || each.derive)) return &each;
    }
    return nullptr;
}

// Reads what one sweep's trials say of themselves.
class FactsReader {
public:
    FactsReader(const TrialQuery& query, const SweepResult& sweep, const Words& words)
        : m_query(query), m_sweep(sweep), m_words(words) {
        const QueueQuery queue(query);
        m_made = queue.trials(sweep.group.id);
        if (sweep.objective) m_values = rungFactsOf(queue, *sweep.objective, sweep.group.id).values;
        m_tested = sweep.objective && sweep.objective->split != Split::Test ? sameOfTest(*sweep.objective) : nullptr;
    }

    SweepFacts facts() {
        const GroupState state = m_sweep.group.state;
        SweepFacts facts{
            .group = m_sweep.group, .spec = m_sweep.spec, .objective = m_sweep.objective, .tested = m_tested};
        addMethod(facts);
        for (const CellResult& each : m_sweep.cells) facts.cells.push_back(cellOf(each));
        addTrials(facts);
        facts.ranking = ranked(m_sweep);
        facts.climbers = m_sweep.climbers;
        facts.planned = m_sweep.planned;
        facts.finished = m_sweep.finished, facts.failed = m_sweep.failed, facts.running = m_sweep.running;
        facts.waiting = m_sweep.waiting(), facts.halted = m_sweep.halted, facts.atRungs = m_sweep.paused;
        facts.cancelled = m_sweep.cancelled, facts.removed = m_sweep.removed, facts.adopted = m_sweep.adopted;
        addTried(facts);
        addBestAtRung(facts);
        if (const auto problem = problemFrom(m_sweep.group.reason); problem && state == GroupState::Failed)
            facts.failure = messageOf(*problem, m_words);
        facts.machines = std::move(m_machines);
        std::ranges::stable_sort(facts.machines, std::greater(), &ReportedMachine::trials);
        facts.program = "Lockstep " LOCKSTEP_VERSION;
        facts.writtenAt = utcNow();
        return facts;
    }

private:
    void addMethod(SweepFacts& facts) const {
        facts.method = m_sweep.spec.method;
        const auto space = spaceOf(m_sweep.spec);
        if (!space.ok()) return;
        const ChosenMethod chosen = chosenMethod(m_sweep.spec, space.value());
        facts.method = chosen.method;
        if (!chosen.reason.empty()) facts.methodReason = m_words.what({"method", chosen.reason, {}});
    }

    ReportedCell cellOf(const CellResult& cell) const {
        return {.number = cell.number,
                .settings = cell.settings,
                .count = cell.count,
                .bestTrial = cell.bestTrial,
                .mean = cell.mean,
                .deviation = cell.deviation,
                .state = stateText(m_sweep, cell)};
    }

    void addTrials(SweepFacts& facts) {
        std::map<std::pair<std::int64_t, std::int64_t>, std::vector<ChartPoint>> curves;
        for (const GroupValue& each : m_values) {
            const double value = m_sweep.objective->derive ? m_sweep.objective->derive(each.value) : each.value;
            curves[{each.place.cell, each.place.repeat}].push_back({static_cast<double>(each.epoch), value});
        }
        for (const GroupTrial& each : m_made) {
            const auto at = static_cast<std::size_t>(each.place.cell);
            const auto row = each.trial && !each.isDeleted ? m_query.find(*each.trial) : std::nullopt;
            if (!row || at >= facts.cells.size()) continue;
            ReportedTrial trial = trialOf(each, *row);
            trial.curve = std::move(curves[{each.place.cell, each.place.repeat}]);
            facts.cells[at].trials.push_back(std::move(trial));
        }
    }

    // A trial that is to be tried again has not failed yet.
    ReportedTrial trialOf(const GroupTrial& made, const TrialRow& row) {
        ReportedTrial trial{.trial = row.id,
                            .state = made.isQueued && made.state == RunState::Failed
                                         ? RunState::Queued
                                         : made.state.value_or(RunState::Crashed)};
        trial.epoch = row.epoch;
        trial.seconds = row.seconds.value_or(0);
        const auto value = m_sweep.objective ? best(row, *m_sweep.objective) : std::nullopt;
        if (value && std::isfinite(*value)) trial.value = value;
        if (m_tested) trial.tested = newest(row, *m_tested);
        trial.hasDiverged =
            row.failure.starts_with("non-finite") || (trial.state == RunState::Finished && !trial.value);
        if (trial.hasFailed()) trial.failure = failureOf(row);
        if (const auto started = m_query.started(row.id)) addMachine(*started);
        return trial;
    }

    CardMessage failureOf(const TrialRow& row) const {
        if (const auto failed = m_query.failure(row.id)) {
            const Problem problem = problemOf(*failed);
            return {failed->kind, m_words.what(problem), m_words.remedy(problem)};
        }
        return {"failure", row.failure.empty() ? "The run ended without a word." : row.failure, ""};
    }

    void addMachine(const RunStarted& started) {
        const auto same = [&](const ReportedMachine& each) {
            const RunStarted& other = each.started;
            return other.software == started.software && other.hardware == started.hardware &&
                   other.devices == started.devices && other.threads == started.threads &&
                   other.precision == started.precision;
        };
        const auto found = std::ranges::find_if(m_machines, same);
        if (found != m_machines.end()) ++found->trials;
        else m_machines.push_back({started, 1});
    }

    // Where few cells were trained to the end, from the highest rung down to the first with an answer; where none has
    // one, the lowest: the window asks the same.
    void addTried(SweepFacts& facts) const {
        facts.tried = triedCells(m_sweep);
        const auto rungs = rungsOf(m_sweep.spec);
        if (!rungs || facts.tried.size() >= kFewestTried) return;
        for (std::size_t rung = rungs->top(); rung-- > 0;) {
            auto early = triedCellsAt(m_sweep, m_made, m_values, rungs->epochs[rung]);
            if (early.tried.size() <= facts.tried.size()) continue;
            facts.tried = std::move(early.tried);
            facts.triedAt = rungs->epochs[rung];
            if (fanova(m_sweep.spec.vary, facts.tried).verdict == ImportanceVerdict::Sound) return;
        }
    }

    void addBestAtRung(SweepFacts& facts) const {
        if (const auto best = bestAtRungOf(m_sweep))
            facts.bestAtRung = report::BestAtRung{*m_sweep.bestAtRung, best->at.epoch, best->at.value};
    }

    const TrialQuery& m_query;
    const SweepResult& m_sweep;
    const Words& m_words;
    const Metric* m_tested = nullptr;
    std::vector<GroupTrial> m_made;
    std::vector<GroupValue> m_values;
    std::vector<ReportedMachine> m_machines;
};

}  // namespace

SweepFacts sweepFactsOf(const TrialQuery& query, std::int64_t sweep, const Words& words) {
    const SweepResult result = sweepResult(query, sweep);
    return FactsReader(query, result, words).facts();
}

}  // namespace lockstep
