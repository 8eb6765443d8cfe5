#include "ui/models/live_text.h"

#include <QStringList>
#include <algorithm>

#include "ui/models/run_text.h"

namespace lockstep::ui {

namespace {

QString count(std::int64_t value) { return runCount(static_cast<double>(value)); }

QString devicesText(const RunStarted& started) {
    const auto number = started.devices.size();
    return number == 1 ? QString("1 device")
                       : QString("%1 %2devices").arg(number).arg(started.virtualDevices ? "virtual " : "");
}

}  // namespace

QString liveTitle(std::int64_t trial, const std::optional<TrialRow>& row) {
    const QString number = QString("Trial %1").arg(trial);
    return row && !row->title.empty() ? QString("%1: %2").arg(number, QString::fromStdString(row->title)) : number;
}

QString liveSubtitle(const std::optional<TrialRow>& row, const RunRecord& record) {
    QStringList parts;
    if (row) parts << QString::fromStdString(row->model) + " on " + QString::fromStdString(row->dataset);
    if (const auto& started = record.started()) {
        parts << devicesText(*started) << count(started->parameters) + " parameters";
        if (started->attempt > 1) parts << QString("attempt %1").arg(started->attempt);
    }
    return parts.join(" · ");
}

QString liveProgress(const RunRecord& record) {
    if (!record.started())
        return isFinal(record.state()) ? "It never began to train." : "Getting ready: data, devices, program";
    QStringList parts{
        QString("Epoch %1 of %2").arg(std::max<std::int64_t>(1, record.epoch())).arg(record.started()->epochs),
        QString("step %1 of %2").arg(count(record.step()), count(record.totalSteps())), runDuration(record.seconds())};
    if (const auto left = record.remaining()) parts << "about " + runDuration(*left) + " left";
    if (const auto best = record.bestAccuracy()) parts << "best test accuracy " + runPercent(*best);
    if (record.missing() > 0) parts << count(record.missing()) + " events lost";
    return parts.join(" · ");
}

int livePermille(const RunRecord& record) {
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
        case RunAction::ResumeFromCheckpoint: break;
    }
    return runStateText(state);
}

}  // namespace lockstep::ui
