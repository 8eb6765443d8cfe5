#include "ui/queue/sweep_text.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>

#include "engine/core/bytes_text.h"
#include "ui/history/sweep_words.h"
#include "ui/plot/run_text.h"

namespace lockstep::ui {

namespace {

struct SweepText {
    Q_DECLARE_TR_FUNCTIONS(SweepText)
};

QString counted(std::int64_t count) { return runCount(static_cast<double>(count)); }
QString weight(std::uint64_t bytes) { return QString::fromStdString(bytesText(bytes)); }

bool isUnderWay(const SweepRow& sweep) {
    const GroupState state = sweep.result.group.state;
    return state == GroupState::Active || state == GroupState::Paused;
}

const CellResult* bestOf(const SweepRow& sweep) {
    const SweepResult& result = sweep.result;
    return result.best && result.objective ? &result.cells[*result.best] : nullptr;
}

// A metric's title within a sentence.
QString named(const Metric& metric) {
    QString title = metricText(metric.title);
    if (!title.isEmpty()) title[0] = title[0].toLower();
    return title;
}

QString bestText(const BestAtRung& best, const SweepResult& sweep) {
    const auto words = sweep.mayGoOn() ? SweepText::tr("Best %1 at rung %2: %3; none is trained to its end yet")
                                       : SweepText::tr("Best %1 at rung %2: %3; none was trained to its end");
    const Metric& metric = *sweep.objective;
    return words.arg(named(metric), QString::number(best.at.rung), rungValueText(best, metric));
}

QString epochsText(std::int64_t epochs) {
    return epochs == 1 ? SweepText::tr("1 epoch") : SweepText::tr("%1 epochs").arg(counted(epochs));
}

QString rungWords(const QString& place, const RungColumn& rung, const std::optional<double>& correlation) {
    const QString came = rung.cells == 1 ? SweepText::tr("1 cell has come there")
                                         : SweepText::tr("%1 cells have come there").arg(counted(rung.cells));
    QStringList parts{SweepText::tr("%1, %2: %3").arg(place, rung.title, came)};
    if (!rung.isTop) parts << SweepText::tr("%1 went on").arg(counted(rung.wentOn));
    if (correlation) {
        const QString sign = *correlation < 0 ? QString() : QStringLiteral("+");
        parts << SweepText::tr("foretells the next %1").arg(sign + QString::number(*correlation, 'f', 2));
    }
    return parts.join(", ");
}

RungColumn columnOf(const SweepResult& sweep, const Rungs& rungs, std::size_t rung) {
    const RungCount count = countAt(sweep.climbers, rung);
    RungColumn column{epochsText(rungs.epochs[rung]), count.cells, count.wentOn, rung == rungs.top(), {}};
    column.words =
        rungWords(SweepText::tr("Rung %1 of %2").arg(rung + 1).arg(rungs.epochs.size()), column, count.correlation);
    return column;
}

std::uint64_t bytesToCome(const SweepRow& sweep) {
    if (!sweep.bytesOfTrial || !isUnderWay(sweep)) return 0;
    const std::int64_t left = std::max<std::int64_t>(0, sweep.result.planned - sweep.result.ended);
    return *sweep.bytesOfTrial * static_cast<std::uint64_t>(left);
}

}  // namespace

namespace sweep_text {

QString title(const SweepRow& sweep) { return sweepName(sweep.result.group); }

QString progress(const SweepRow& sweep) {
    if (!sweep.isReadable) return {};
    const SweepResult& result = sweep.result;
    const QString done = counted(result.finished);
    QStringList parts{result.planned == 1 ? SweepText::tr("%1 of 1 trial finished").arg(done)
                      : result.planned > 1
                          ? SweepText::tr("%1 of %2 trials finished").arg(done, counted(result.planned))
                      : result.finished == 1 ? SweepText::tr("1 trial finished")
                                             : SweepText::tr("%1 trials finished").arg(done)};
    if (result.running > 0) parts << SweepText::tr("%1 running").arg(counted(result.running));
    if (result.failed > 0) parts << SweepText::tr("%1 failed").arg(counted(result.failed));
    if (result.halted > 0) parts << SweepText::tr("%1 paused").arg(counted(result.halted));
    if (result.paused > 0) parts << atRungText(result, result.paused);
    if (result.cancelled > 0) parts << SweepText::tr("%1 cancelled").arg(counted(result.cancelled));
    if (result.removed > 0) parts << SweepText::tr("%1 deleted").arg(counted(result.removed));
    if (result.adopted > 0) parts << SweepText::tr("%1 known before").arg(counted(result.adopted));
    return parts.join(", ");
}

QString left(const SweepRow& sweep) {
    const auto seconds = sweep.result.secondsLeft();
    if (!seconds || sweep.result.group.state != GroupState::Active) return {};
    return SweepText::tr("about %1 left").arg(runDuration(*seconds));
}

QString best(const SweepRow& sweep) {
    if (const auto atRung = bestAtRungOf(sweep.result)) return bestText(*atRung, sweep.result);
    const CellResult* cell = bestOf(sweep);
    if (!cell) return {};
    const Metric& metric = *sweep.result.objective;
    return SweepText::tr("Best %1 %2").arg(named(metric), objectiveText(*cell, metric));
}

QString bestCell(const SweepRow& sweep) {
    if (const auto atRung = bestAtRungOf(sweep.result)) return cellText(atRung->cell->settings);
    const CellResult* cell = bestOf(sweep);
    return cell ? cellText(cell->settings) : QString();
}

std::int64_t bestTrial(const SweepRow& sweep) {
    if (const auto atRung = bestAtRungOf(sweep.result)) return atRung->trial();
    const CellResult* cell = bestOf(sweep);
    return cell ? cell->bestTrial : 0;
}

std::vector<RungColumn> rungs(const SweepRow& sweep) {
    const auto isThere = [](const Climber& each) { return !each.losses.empty(); };
    if (std::ranges::none_of(sweep.result.climbers, isThere)) return {};
    const auto rungs = rungsOf(sweep.result.spec);
    std::vector<RungColumn> columns;
    for (std::size_t i = 0; rungs && i <= rungs->top(); ++i) columns.push_back(columnOf(sweep.result, *rungs, i));
    return columns;
}

QString disk(const SweepRow& sweep) {
    const std::int64_t planned = sweep.result.planned;
    if (!sweep.bytesOfTrial || planned <= 0 || !isUnderWay(sweep)) return {};
    return SweepText::tr("takes about %1 of disk in all")
        .arg(weight(*sweep.bytesOfTrial * static_cast<std::uint64_t>(planned)));
}

bool exceedsDisk(const SweepRow& sweep, std::uint64_t available) {
    return available > 0 && bytesToCome(sweep) > available;
}

QString diskWarning(const SweepRow& sweep, std::uint64_t available) {
    if (!exceedsDisk(sweep, available)) return {};
    return SweepText::tr("The trials to come take about %1, and the disk has %2 left.")
        .arg(weight(bytesToCome(sweep)), weight(available));
}

}  // namespace sweep_text

SweepActions actionsFor(const SweepRow& sweep) {
    const SweepResult& result = sweep.result;
    const GroupState state = result.group.state;
    const bool isWholeGrid = result.spec.method == "grid" && result.spec.trials == 0;  // there are no more cells
    SweepActions can;
    can.pause = state == GroupState::Active;
    can.goOn = state != GroupState::Active && state != GroupState::Finished;
    can.cancel = isUnderWay(sweep) || state == GroupState::Failed;
    can.retry = sweep.isReadable && result.fallenOut() > 0;
    can.extend = sweep.isReadable && !isWholeGrid;
    return can;
}

}  // namespace lockstep::ui
