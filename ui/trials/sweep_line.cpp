#include "ui/trials/sweep_line.h"

#include <QCoreApplication>
#include <QStringList>

#include "ui/history/sweep_words.h"

namespace lockstep::ui {

namespace {

struct SweepLine {
    Q_DECLARE_TR_FUNCTIONS(SweepLine)
};

QString doneOf(const SweepResult& result) {
    const QString done = QString::number(result.finished);
    if (result.planned <= 0) return SweepLine::tr("%1 finished").arg(done);
    return SweepLine::tr("%1 of %2 finished").arg(done, QString::number(result.planned));
}

QString bestOf(const SweepResult& result) {
    const CellResult& best = result.cells[*result.best];
    return SweepLine::tr("best %1: %2").arg(objectiveText(best, *result.objective), cellText(best.settings));
}

QString bestOf(const BestAtRung& best, const Metric& objective) {
    return SweepLine::tr("best at rung %1 %2: %3")
        .arg(QString::number(best.at.rung), rungValueText(best, objective), cellText(best.cell->settings));
}

// The state where there is more to it than the numbers say, in the engine's word.
QStringList progressOf(const TrialGroup& sweep, const SweepResult* result) {
    QStringList parts;
    const bool isUsual = sweep.state == GroupState::Active || sweep.state == GroupState::Finished;
    if (!isUsual) parts << QString::fromStdString(std::string(lockstep::text(sweep.state)));
    if (!result) return parts;
    parts << doneOf(*result);
    if (result->running > 0) parts << SweepLine::tr("%1 running").arg(result->running);
    if (result->failed > 0) parts << SweepLine::tr("%1 failed").arg(result->failed);
    if (result->halted > 0) parts << SweepLine::tr("%1 paused").arg(result->halted);
    if (result->paused > 0) parts << atRungText(*result, result->paused);
    if (result->cancelled > 0) parts << SweepLine::tr("%1 cancelled").arg(result->cancelled);
    if (result->removed > 0) parts << SweepLine::tr("%1 deleted").arg(result->removed);
    if (result->best && result->objective) parts << bestOf(*result);
    else if (const auto atRung = bestAtRungOf(*result)) parts << bestOf(*atRung, *result->objective);
    return parts;
}

}  // namespace

QString sweepLine(const TrialGroup& sweep, const SweepResult* result) {
    const QStringList progress = progressOf(sweep, result);
    return progress.isEmpty() ? sweepName(sweep) : sweepName(sweep) + " — " + progress.join(", ");
}

}  // namespace lockstep::ui
