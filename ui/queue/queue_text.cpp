#include "ui/queue/queue_text.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

#include "ui/style/plain_text.h"

namespace lockstep::ui {

namespace {

struct QueueText {
    Q_DECLARE_TR_FUNCTIONS(QueueText)
};

QString runningText(const TrialRow& row) {
    if (row.state == text(RunState::Queued)) return QueueText::tr("starting");
    const QString state = QString::fromStdString(row.state);
    if (row.epoch < 1) return state;
    return QueueText::tr("%1, epoch %2 of %3").arg(state).arg(row.epoch).arg(row.epochs);
}

QString turnText(const TrialRow& row) {
    const bool failed = row.state == text(RunState::Failed) || row.state == text(RunState::Crashed);
    if (failed) return QueueText::tr("waits for another try");
    return row.step > 0 ? QueueText::tr("waits to go on") : QueueText::tr("waits for its turn");
}

EmptyState nothingQueued() {
    return {QueueText::tr("Nothing is queued"),
            QueueText::tr(
                "The queue trains one trial after the other, or as many at once as the machine has room for, also while"
                " this window is closed. “Vary…” on the Train page puts a trial here for each of many settings, and so"
                " does `lockstep sweep` in a terminal; `lockstep train --queue` puts a single one."),
            {{"page.train", QueueText::tr("Choose what to train")}}};
}

}  // namespace

QString queueTrialText(const QueueRow& row) {
    const TrialRow& trial = row.line.row;
    const QString name =
        trial.title.empty()
            ? QueueText::tr("%1 on %2, %3").arg(oneLine(trial.model), oneLine(trial.dataset), oneLine(trial.devices))
            : oneLine(trial.title);
    return QueueText::tr("%1: %2").arg(trial.id).arg(name);
}

QString queueStateText(const QueueRow& row) {
    const QueueLine& line = row.line;
    if (line.isRunning) return runningText(line.row);
    switch (line.reason) {
        case WaitReason::Held: return QueueText::tr("held");
        case WaitReason::GroupPaused: return QueueText::tr("its sweep is paused");
        case WaitReason::AfterOther: return QueueText::tr("after trial %1").arg(line.entry.after.value_or(0));
        default: return turnText(line.row);
    }
}

// By steps where it has said how many there are, by epochs that are over otherwise.
std::optional<double> shareDone(const QueueRow& row) {
    if (!row.line.isRunning) return std::nullopt;
    const TrialRow& trial = row.line.row;
    const auto share = [](std::int64_t done, std::int64_t all) {
        return std::clamp(static_cast<double>(done) / static_cast<double>(all), 0.0, 1.0);
    };
    if (row.steps > 0) return share(trial.step, row.steps);
    return trial.epochs > 0 ? share(std::max<std::int64_t>(trial.epoch, 1) - 1, trial.epochs) : 0;
}

QString queueCountText(const QueueSnapshot& queue) {
    qsizetype running = 0, paused = 0, held = 0, waiting = 0;
    for (const QueueRow& each : queue.rows) {
        if (each.line.isRunning) ++(each.line.row.state == text(RunState::Paused) ? paused : running);
        else if (each.line.reason == WaitReason::Held) ++held;
        else ++waiting;
    }
    QStringList parts;
    if (running > 0) parts << QueueText::tr("%1 running").arg(running);
    if (paused > 0) parts << QueueText::tr("%1 paused").arg(paused);
    if (waiting > 0) parts << QueueText::tr("%1 waiting").arg(waiting);
    if (held > 0) parts << QueueText::tr("%1 held").arg(held);
    return parts.join(", ");
}

bool isStalled(const QueueSnapshot& queue) {
    const bool trialWaits = std::ranges::any_of(queue.rows, [](const QueueRow& each) {
        const WaitReason reason = each.line.reason;
        return !each.line.isRunning && reason != WaitReason::Held && reason != WaitReason::GroupPaused;
    });
    const bool sweepWaits = std::ranges::any_of(
        queue.sweeps, [](const SweepRow& each) { return each.result.group.state == GroupState::Active; });
    return !queue.isKept && (trialWaits || sweepWaits);
}

std::optional<EmptyState> emptyQueue(const QueueSnapshot* queue, const std::optional<Explanation>& unreadable) {
    const bool isEmpty = !queue || (queue->rows.empty() && queue->sweeps.empty());
    if (!isEmpty) return std::nullopt;
    if (unreadable)
        return EmptyState{
            QueueText::tr("The history cannot be read"), unreadable->what + "\n\n" + unreadable->remedy, {}};
    return queue ? nothingQueued() : EmptyState{QueueText::tr("Reading the queue…"), {}, {}};
}

}  // namespace lockstep::ui
