#include "ui/compare/compare_answers.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ui/history/sweep_words.h"
#include "ui/plot/run_text.h"

namespace lockstep::ui {

namespace {

struct CompareAnswersText {
    Q_DECLARE_TR_FUNCTIONS(CompareAnswersText)
};

// Those that stopped at a rung of the sweep apart from those that a person stopped.
CompareAnswer states(const CompareTable& table, const SweepResult* sweep) {
    std::set<std::int64_t> paused;  // cells
    if (sweep)
        for (const CellResult& cell : sweep->cells)
            if (cell.paused > 0) paused.insert(cell.number);
    std::map<RunState, std::int64_t> counts;
    std::int64_t atRung = 0;
    for (const ComparedTrial& trial : table.trials) {
        const bool isAtRung = trial.state == RunState::Stopped && paused.contains(trial.cell);
        ++(isAtRung ? atRung : counts[trial.state]);
    }
    QStringList words;
    for (const auto& [state, count] : counts) {
        if (count > 0) words << CompareAnswersText::tr("%1 %2").arg(count).arg(runStateText(state).toLower());
    }
    if (atRung > 0) words << atRungText(*sweep, atRung);
    return {CompareAnswersText::tr("Trials"), QString::number(table.trials.size()), words.join(", ")};
}

CompareAnswer bestCell(const SweepResult& sweep) {
    const CellResult& best = sweep.cells[*sweep.best];
    return {CompareAnswersText::tr("Best"), objectiveText(best, *sweep.objective), cellText(best.settings),
            best.bestTrial};
}

CompareAnswer bestCell(const BestAtRung& best, const SweepResult& sweep) {
    const auto words = sweep.mayGoOn() ? CompareAnswersText::tr("%1\nNo cell is trained to its end yet")
                                       : CompareAnswersText::tr("%1\nNo cell was trained to its end");
    return {CompareAnswersText::tr("Best at rung %1").arg(best.at.rung), rungValueText(best, *sweep.objective),
            words.arg(cellText(best.cell->settings)), best.trial()};
}

CompareAnswer bestTrial(const CompareTable& table, std::size_t row) {
    const CompareAxis& objective = table.axes[*table.objective];
    const ComparedTrial& trial = table.trials[row];
    return {CompareAnswersText::tr("Best"), objective.cell(row),
            CompareAnswersText::tr("%1: %2").arg(trial.name, trial.words), trial.trial};
}

CompareAnswer epochsSpent(const CompareTable& table, const SweepResult* sweep) {
    std::int64_t spent = 0, planned = 0;
    for (const ComparedTrial& trial : table.trials) spent += trial.epoch, planned += trial.epochs;
    if (sweep && sweep->planned > std::ssize(table.trials) && !table.trials.empty())
        planned = sweep->planned * sweep->spec.trial.epochs;
    const double share = planned > 0 ? static_cast<double>(spent) / static_cast<double>(planned) : 0;
    return {CompareAnswersText::tr("Epochs"), CompareAnswersText::tr("%1 of %2").arg(spent).arg(planned),
            CompareAnswersText::tr("%1 of what all trials would take from beginning to end").arg(runShare(share))};
}

}  // namespace

std::vector<CompareAnswer> answersOf(const CompareScene& scene) {
    const CompareTable& table = *scene.table;
    const SweepResult* sweep = scene.sweep.get();
    std::vector<CompareAnswer> answers{states(table, sweep)};
    const auto atRung = sweep ? bestAtRungOf(*sweep) : std::nullopt;
    if (sweep && sweep->best && sweep->objective) {
        answers.push_back(bestCell(*sweep));
    } else if (atRung) {
        answers.push_back(bestCell(*atRung, *sweep));
    } else if (table.objective && !scene.ranking.empty() &&
               table.axes[*table.objective].absences[scene.ranking.front()] == Absence::None) {
        answers.push_back(bestTrial(table, scene.ranking.front()));
    }
    if (!table.trials.empty()) answers.push_back(epochsSpent(table, sweep));
    const auto left = sweep ? sweep->secondsLeft() : std::nullopt;
    if (left && sweep->group.state == GroupState::Active)
        answers.push_back({CompareAnswersText::tr("Time left"),
                           CompareAnswersText::tr("about %1").arg(runDuration(*left)),
                           CompareAnswersText::tr("As the trials have gone so far")});
    return answers;
}

}  // namespace lockstep::ui
