#include "ui/run/live_text.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

#include "engine/core/bytes_text.h"
#include "ui/plot/run_text.h"
#include "ui/style/plain_text.h"

namespace lockstep::ui {

namespace {

struct LiveText {
    Q_DECLARE_TR_FUNCTIONS(LiveText)
};

QString count(std::int64_t value) { return runCount(static_cast<double>(value)); }

QString devicesText(const RunStarted& started) {
    const auto number = started.devices.size();
    if (number == 1) return LiveText::tr("1 device");
    return (started.virtualDevices ? LiveText::tr("%1 virtual devices") : LiveText::tr("%1 devices")).arg(number);
}

QString devicesText(std::size_t number) {
    return number == 1 ? LiveText::tr("1 device") : LiveText::tr("%1 devices").arg(number);
}

bool sharesDiffer(const std::vector<std::int64_t>& shares) {
    return !shares.empty() && std::ranges::max(shares) - std::ranges::min(shares) > 1;  // 1: an odd sample
}

QString sharesText(const std::vector<std::int64_t>& shares) {
    QStringList parts;
    for (const auto each : shares) parts << count(each);
    return LiveText::tr("parts of %1 samples").arg(parts.join(", "));
}

QString linksText(const RunStarted& started) {
    QStringList parts;
    if (started.linkBandwidth > 0) parts << LiveText::tr("%1 MB/s").arg(started.linkBandwidth);
    if (started.linkLatency > 0) parts << LiveText::tr("%1 µs").arg(started.linkLatency);
    return LiveText::tr("simulated links: %1").arg(parts.join(", "));
}

QString batchNormText(const std::string& kind) {
    return kind == "synchronised" ? LiveText::tr("batch norm over all devices")
                                  : LiveText::tr("batch norm %1").arg(QString::fromStdString(kind));
}

QString happened(const WorldChanged& change) {
    const QString step = count(change.reached);
    if (change.reason == "lost-device") return LiveText::tr("Device %1 was lost at step %2").arg(change.rank).arg(step);
    if (change.reason == "diverged")
        return change.rank < 0
                   ? LiveText::tr("The devices' weights no longer agreed at step %1").arg(step)
                   : LiveText::tr("Device %1 had other weights than the rest at step %2").arg(change.rank).arg(step);
    if (change.reason == "balanced") return LiveText::tr("The parts of the batch were balanced at step %1").arg(step);
    return LiveText::tr("The number of devices was changed at step %1").arg(step);
}

// `again`: steps that are done once more.
QString wentOn(const WorldChanged& change, std::int64_t again) {
    const QString what = happened(change), after = count(change.step), devices = devicesText(change.devices.size());
    if (again <= 0) return LiveText::tr("%1; going on after step %2 with %3.").arg(what, after, devices);
    if (again == 1) return LiveText::tr("%1; going on after step %2 with %3, 1 step again.").arg(what, after, devices);
    return LiveText::tr("%1; going on after step %2 with %3, %4 steps again.").arg(what, after, devices, count(again));
}

// What is done again is worth a warning.
QString words(const WorldChanged& change) {
    const bool isFault = change.reason == "lost-device" || change.reason == "diverged";
    QString text = wentOn(change, change.reached - change.step);
    if (!change.what.empty())
        text += '\n' + (isFault ? LiveText::tr("It said: %1") : LiveText::tr("Parts by device: %1"))
                           .arg(QString::fromStdString(change.what));
    return (isFault ? "⚠ " : "") + text;
}

QString words(const StragglerFound& found) {
    const QString why = found.cause == "data"      ? LiveText::tr("it waits for its samples")
                        : found.cause == "compute" ? LiveText::tr("it computes longer")
                                                   : LiveText::tr("its part of the summing takes longer");
    return LiveText::tr("Device %1 keeps the others waiting: %2 per update (%3), %4. Seen at step %5.")
        .arg(found.rank)
        .arg(runStepTime(found.seconds), runShare(found.share), why, count(found.step));
}

QString words(const RunFinished& finished) {
    QStringList lines;
    for (std::size_t rank = 0; rank < finished.heldUp.size(); ++rank) {
        if (finished.heldUp[rank] > 0)
            lines << LiveText::tr("In all, device %1 kept the others waiting for %2.")
                         .arg(rank)
                         .arg(runDuration(finished.heldUp[rank]));
    }
    if (finished.unreadable > 0)
        lines
            << LiveText::tr("Images that could not be read and had no part in it: %1.").arg(count(finished.unreadable));
    return lines.join('\n');
}

QString words(const Message& message, const Explain& explain) {
    const Explanation said = explain(message.text);
    return (message.level == "warning" ? "⚠ " : "") + said.inTwoLines();
}

QString readingText(const DataProgress& reading) {
    if (reading.total == 0) return LiveText::tr("Listing files: %1").arg(count(reading.done));
    const QString text = LiveText::tr("Reading the data: %1 of %2 samples, %3/s")
                             .arg(count(reading.done), count(reading.total), runCount(reading.samplesPerSecond));
    if (reading.bytes == 0) return text;
    return LiveText::tr("%1, into a file of about %2")
        .arg(text, QString::fromStdString(bytesText(static_cast<std::uint64_t>(reading.bytes))));
}

QString qualityText(const RunRecord& record, const TaskMetrics& metrics) {
    const QString text = runMetric(*metrics.quality, *record.best(*metrics.quality));
    return metrics.aside ? text + ", " + runMetric(*metrics.aside, *record.best(*metrics.aside)) : text;
}

// Of the split that chooses, and once that is another one of the test split.
QString bestText(const RunRecord& record) {
    const TaskMetrics& metrics = record.metrics();
    if (!record.best(*metrics.quality)) return {};
    if (metrics.objective->split == Split::Test) return LiveText::tr("best test %1").arg(qualityText(record, metrics));
    const QString best = LiveText::tr("best validation %1").arg(qualityText(record, metrics));
    const TaskMetrics& tests = metricsFor(record.started()->task, Split::Test);
    if (!record.best(*tests.quality)) return best;
    return LiveText::tr("%1 · test %2").arg(best, qualityText(record, tests));
}

bool measuresPrecisions(const RunRecord& record) {
    const auto* newest = record.notes().empty() ? nullptr : std::get_if<Message>(&record.notes().back());
    return newest && newest->text.code == kPrecisionMeasured;
}

QString beginningText(const RunRecord& record) {
    if (isFinal(record.state())) return LiveText::tr("It never began to train.");
    if (measuresPrecisions(record))
        return LiveText::tr("Getting ready: measuring in which precision it trains fastest");
    return LiveText::tr("Getting ready: data, devices, program");
}

}  // namespace

QString liveNote(const RunNote& note, const Explain& explain) {
    if (const auto* message = std::get_if<Message>(&note)) return words(*message, explain);
    if (const auto* change = std::get_if<WorldChanged>(&note)) return words(*change);
    if (const auto* straggler = std::get_if<StragglerFound>(&note)) return words(*straggler);
    return words(std::get<RunFinished>(note));
}

QString liveTitle(std::int64_t trial, const std::optional<TrialRow>& row) {
    const QString number = LiveText::tr("Trial %1").arg(trial);
    return row && !row->title.empty() ? QString("%1: %2").arg(number, oneLine(row->title)) : number;
}

QString liveSubtitle(const std::optional<TrialRow>& row, const RunRecord& record) {
    QStringList parts;
    if (row)
        parts << LiveText::tr("%1 on %2").arg(QString::fromStdString(row->model), QString::fromStdString(row->dataset));
    if (const auto& started = record.started()) {
        parts << devicesText(*started) << LiveText::tr("%1 parameters").arg(count(started->parameters));
        if (sharesDiffer(started->shares)) parts << sharesText(started->shares);
        if (!started->batchNorm.empty() && started->batchNorm != "local") parts << batchNormText(started->batchNorm);
        if (started->linkBandwidth > 0 || started->linkLatency > 0) parts << linksText(*started);
        if (started->attempt > 1) parts << LiveText::tr("attempt %1").arg(started->attempt);
    }
    return parts.join(" · ");
}

QString liveProgress(const RunRecord& record) {
    if (record.reading()) return readingText(*record.reading());
    if (!record.started()) return beginningText(record);
    QStringList parts{
        LiveText::tr("Epoch %1 of %2").arg(std::max<std::int64_t>(1, record.epoch())).arg(record.started()->epochs),
        LiveText::tr("step %1 of %2").arg(count(record.step()), count(record.totalSteps())),
        runDuration(record.seconds())};
    if (const auto left = record.remaining()) parts << LiveText::tr("about %1 left").arg(runDuration(*left));
    if (const auto best = bestText(record); !best.isEmpty()) parts << best;
    if (record.missing() == 1) parts << LiveText::tr("1 event lost");
    else if (record.missing() > 1) parts << LiveText::tr("%1 events lost").arg(count(record.missing()));
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
        case RunAction::Pause: return LiveText::tr("Pausing…");
        case RunAction::Resume: return LiveText::tr("Resuming…");
        case RunAction::FinishEpoch: return LiveText::tr("Finishing this epoch…");
        case RunAction::StopNow: return LiveText::tr("Stopping…");
        case RunAction::Kill: return LiveText::tr("Killing…");
        case RunAction::Scale: return LiveText::tr("Changing its devices…");
        case RunAction::Balance: return LiveText::tr("Balancing…");
        case RunAction::ResumeFromCheckpoint: break;
    }
    return runStateText(state);
}

}  // namespace lockstep::ui
