#include "ui/history/sweep_words.h"

#include <QCoreApplication>

#include "engine/spec/metric_text.h"
#include "ui/style/plain_text.h"

namespace lockstep::ui {

namespace {

struct SweepWords {
    Q_DECLARE_TR_FUNCTIONS(SweepWords)
};

}  // namespace

QString sweepName(const TrialGroup& sweep) {
    const QString number = QString::number(sweep.id), title = oneLine(sweep.title);
    return title.isEmpty() ? SweepWords::tr("Sweep %1").arg(number) : SweepWords::tr("Sweep %1: %2").arg(number, title);
}

QString cellText(const Cell& settings) { return oneLine(wordsOf(settings)); }

QString objectiveText(const CellResult& cell, const Metric& metric) {
    const QString mean = QString::fromStdString(lockstep::metricText(metric, cell.mean));
    if (cell.count <= 1) return mean;
    const bool isShare = metric.unit == MetricUnit::Share;
    const QString deviation = QString::number((isShare ? 100 : 1) * cell.deviation, 'f', isShare ? 2 : 4);
    return SweepWords::tr("%1 ± %2 (n %3)").arg(mean, deviation, QString::number(cell.count));
}

QString rungValueText(const BestAtRung& best, const Metric& metric) {
    const QString value = QString::fromStdString(lockstep::metricText(metric, best.at.value));
    return SweepWords::tr("%1 at epoch %2").arg(value).arg(best.at.epoch);
}

QString atRungText(const SweepResult& sweep, std::int64_t count) {
    const auto words = sweep.mayGoOn() ? SweepWords::tr("%1 paused at a rung") : SweepWords::tr("%1 stopped at a rung");
    return words.arg(count);
}

QString rungStopText(const SweepResult& sweep, const CellResult& cell) {
    const auto stop = rungStopOf(sweep, cell);
    if (!stop) return {};
    const auto words = stop->waits ? SweepWords::tr("paused at rung %1 of %2, rank %3 of %4")
                                   : SweepWords::tr("stopped at rung %1 of %2, rank %3 of %4");
    const Standing& at = stop->standing;
    return words.arg(at.rung + 1).arg(stop->rungs).arg(at.rank).arg(at.of);
}

}  // namespace lockstep::ui
