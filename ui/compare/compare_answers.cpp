#include "ui/compare/compare_answers.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <map>

#include "ui/history/sweep_words.h"
#include "ui/plot/run_text.h"

namespace lockstep::ui {

namespace {

struct CompareAnswersText {
    Q_DECLARE_TR_FUNCTIONS(CompareAnswersText)
};

CompareAnswer states(const CompareTable& table) {
    std::map<RunState, int> counts;
    for (const ComparedTrial& trial : table.trials) ++counts[trial.state];
    QStringList words;
    for (const auto& [state, count] : counts)
        words << CompareAnswersText::tr("%1 %2").arg(count).arg(runStateText(state).toLower());
    return {CompareAnswersText::tr("Trials"), QString::number(table.trials.size()), words.join(", ")};
}

CompareAnswer bestCell(const SweepResult& sweep) {
    const CellResult& best = sweep.cells[*sweep.best];
    return {CompareAnswersText::tr("Best"), objectiveText(best, *sweep.objective), cellText(best.settings),
            best.bestTrial};
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
    std::vector<CompareAnswer> answers{states(table)};
    const SweepResult* sweep = scene.sweep.get();
    if (sweep && sweep->best && sweep->objective) {
        answers.push_back(bestCell(*sweep));
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
