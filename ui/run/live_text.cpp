#include "ui/run/live_text.h"

#include <QCoreApplication>
#include <QObject>
#include <QStringList>
#include <algorithm>

#include "ui/plot/run_text.h"
#include "ui/style/plain_text.h"

namespace lockstep::ui {

namespace {

QString count(std::int64_t value) { return runCount(static_cast<double>(value)); }

QString devicesText(const RunStarted& started) {
    const auto number = started.devices.size();
    return number == 1 ? QString("1 device")
                       : QString("%1 %2devices").arg(number).arg(started.virtualDevices ? "virtual " : "");
}

QString devicesText(std::size_t number) {
    return number == 1 ? QString("1 device") : QString("%1 devices").arg(number);
}

bool sharesDiffer(const std::vector<std::int64_t>& shares) {
    return !shares.empty() && std::ranges::max(shares) - std::ranges::min(shares) > 1;  // 1: an odd sample
}

QString sharesText(const std::vector<std::int64_t>& shares) {
    QStringList parts;
    for (const auto each : shares) parts << count(each);
    return "parts of " + parts.join(", ") + " samples";
}

QString linksText(const RunStarted& started) {
    QStringList parts;
    if (started.linkBandwidth > 0) parts << QString("%1 MB/s").arg(started.linkBandwidth);
    if (started.linkLatency > 0) parts << QString("%1 µs").arg(started.linkLatency);
    return "simulated links: " + parts.join(", ");
}

QString batchNormText(const std::string& kind) {
    return kind == "synchronised" ? "batch norm over all devices" : "batch norm " + QString::fromStdString(kind);
}

QString happened(const WorldChanged& change) {
    const QString at = " at step " + count(change.reached);
    if (change.reason == "lost-device") return QString("Device %1 was lost%2").arg(change.rank).arg(at);
    if (change.reason == "diverged")
        return (change.rank < 0 ? QString("The devices' weights no longer agreed") + at
                                : QString("Device %1 had other weights than the rest%2").arg(change.rank).arg(at));
    if (change.reason == "balanced") return "The parts of the batch were balanced" + at;
    return "The number of devices was changed" + at;
}

// What is done again is worth a warning.
QString words(const WorldChanged& change) {
    const auto again = change.reached - change.step;
    const bool isFault = change.reason == "lost-device" || change.reason == "diverged";
    QString text = happened(change) + "; going on after step " + count(change.step) + " with " +
                   devicesText(change.devices.size());
    if (again > 0) text += QString(", %1 %2 again").arg(count(again), again == 1 ? "step" : "steps");
    text += '.';
    if (!change.what.empty())
        text += (isFault ? "\nIt said: " : "\nParts by device: ") + QString::fromStdString(change.what);
    return (isFault ? "⚠ " : "") + text;
}

QString words(const StragglerFound& found) {
    const QString why = found.cause == "data"      ? "it waits for its samples"
                        : found.cause == "compute" ? "it computes longer"
                                                   : "its part of the summing takes longer";
    return QString("Device %1 keeps the others waiting: %2 per update (%3), %4. Seen at step %5.")
        .arg(found.rank)
        .arg(runStepTime(found.seconds), runShare(found.share), why, count(found.step));
}

QString words(const RunFinished& finished) {
    QStringList lines;
    for (std::size_t rank = 0; rank < finished.heldUp.size(); ++rank) {
        if (finished.heldUp[rank] > 0)
            lines << QCoreApplication::translate("lockstep::ui", "In all, device %1 kept the others waiting for %2.")
                         .arg(rank)
                         .arg(runDuration(finished.heldUp[rank]));
    }
    return lines.join('\n');
}

QString words(const Message& message, const Explain& explain) {
    const Explanation said = explain(message.text);
    return (message.level == "warning" ? "⚠ " : "") + said.what + (said.remedy.isEmpty() ? "" : "\n" + said.remedy);
}

QString readingText(const DataProgress& reading) {
    return QCoreApplication::translate("LiveText", "Reading the data: %1 of %2 samples, %3/s")
        .arg(count(reading.done), count(reading.total), runCount(reading.samplesPerSecond));
}

QString bestText(const RunRecord& record) {
    const TaskMetrics& metrics = record.metrics();
    const auto best = record.best(*metrics.test);
    if (!best) return {};
    const QString text = QObject::tr("best test %1").arg(runMetric(*metrics.test, *best));
    return metrics.aside ? text + ", " + runMetric(*metrics.aside, *record.best(*metrics.aside)) : text;
}

}  // namespace

QString liveNote(const RunNote& note, const Explain& explain) {
    if (const auto* message = std::get_if<Message>(&note)) return words(*message, explain);
    if (const auto* change = std::get_if<WorldChanged>(&note)) return words(*change);
    if (const auto* straggler = std::get_if<StragglerFound>(&note)) return words(*straggler);
    return words(std::get<RunFinished>(note));
}

QString liveTitle(std::int64_t trial, const std::optional<TrialRow>& row) {
    const QString number = QString("Trial %1").arg(trial);
    return row && !row->title.empty() ? QString("%1: %2").arg(number, oneLine(row->title)) : number;
}

QString liveSubtitle(const std::optional<TrialRow>& row, const RunRecord& record) {
    QStringList parts;
    if (row) parts << QString::fromStdString(row->model) + " on " + QString::fromStdString(row->dataset);
    if (const auto& started = record.started()) {
        parts << devicesText(*started) << count(started->parameters) + " parameters";
        if (sharesDiffer(started->shares)) parts << sharesText(started->shares);
        if (!started->batchNorm.empty() && started->batchNorm != "local") parts << batchNormText(started->batchNorm);
        if (started->linkBandwidth > 0 || started->linkLatency > 0) parts << linksText(*started);
        if (started->attempt > 1) parts << QString("attempt %1").arg(started->attempt);
    }
    return parts.join(" · ");
}

QString liveProgress(const RunRecord& record) {
    if (record.reading()) return readingText(*record.reading());
    if (!record.started())
        return isFinal(record.state()) ? "It never began to train." : "Getting ready: data, devices, program";
    QStringList parts{
        QString("Epoch %1 of %2").arg(std::max<std::int64_t>(1, record.epoch())).arg(record.started()->epochs),
        QString("step %1 of %2").arg(count(record.step()), count(record.totalSteps())), runDuration(record.seconds())};
    if (const auto left = record.remaining()) parts << "about " + runDuration(*left) + " left";
    if (const auto best = bestText(record); !best.isEmpty()) parts << best;
    if (record.missing() > 0) parts << count(record.missing()) + " events lost";
    return parts.join(" · ");
}

int livePermille(const RunRecord& record) {
    if (const auto& reading = record.reading(); reading && reading->total > 0)
        return static_cast<int>(std::clamp<std::int64_t>(1000 * reading->done / reading->total, 0, 1000));
    if (record.totalSteps() <= 0) return -1;
    return static_cast<int>(std::clamp<std::int64_t>(1000 * record.step() / record.totalSteps(), 0, 1000));
}

QString liveState(RunState state, std::optional<RunAction> asked) {
    if (!asked || isFinal(state)) return runStateText(state);
    switch (*asked) {
        case RunAction::Pause: return "Pausing…";
        case RunAction::Resume: return "Resuming…";
        case RunAction::FinishEpoch: return "Finishing this epoch…";
        case RunAction::StopNow: return "Stopping…";
        case RunAction::Kill: return "Killing…";
        case RunAction::Scale: return "Changing its devices…";
        case RunAction::Balance: return "Balancing…";
        case RunAction::ResumeFromCheckpoint: break;
    }
    return runStateText(state);
}

}  // namespace lockstep::ui
