#include "ui/queue/queue_steps.h"

#include <QStringList>
#include <optional>

#include "ui/history/command_text.h"

namespace lockstep::ui {

namespace {

using Verb = QueueStep::Verb;

void performOne(const QueueStep& step, QueueService& queue) {
    switch (step.verb) {
        case Verb::Hold: return queue.setHeld(step.of, true);
        case Verb::Release: return queue.setHeld(step.of, false);
        case Verb::First: return queue.moveFirst(step.of);
        case Verb::Last: return queue.moveBefore(step.of, 0);
        case Verb::Before: return queue.moveBefore(step.of, step.value);
        case Verb::Priority: return queue.setPriority(step.of, step.value);
        case Verb::After: return queue.setAfter(step.of, step.value > 0 ? std::optional(step.value) : std::nullopt);
        case Verb::Cancel: return queue.cancel(step.of);
        case Verb::PauseSweep: return queue.pauseSweep(step.of);
        case Verb::ContinueSweep: return queue.goOnWithSweep(step.of);
        case Verb::CancelSweep: return queue.cancelSweep(step.of);
        case Verb::RetrySweep: queue.retrySweep(step.of); return;
        case Verb::ExtendSweep: return queue.extendSweep(step.of, step.value);
        case Verb::Start: return queue.startKeeper();
    }
}

QStringList wordsOf(const QueueStep& step) {
    const QString of = QString::number(step.of), value = QString::number(step.value);
    switch (step.verb) {
        case Verb::Hold: return {"queue", "hold", of};
        case Verb::Release: return {"queue", "release", of};
        case Verb::First: return {"queue", "first", of};
        case Verb::Last: return {"queue", "last", of};
        case Verb::Before: return {"queue", "before", of, value};
        case Verb::Priority: return {"queue", "priority", of, value};
        case Verb::After: return {"queue", "after", of, value};
        case Verb::Cancel: return {"queue", "cancel", of};
        case Verb::PauseSweep: return {"sweeps", of, "--pause"};
        case Verb::ContinueSweep: return {"sweeps", of, "--continue"};
        case Verb::CancelSweep: return {"sweeps", of, "--cancel"};
        case Verb::RetrySweep: return {"sweeps", of, "--retry"};
        case Verb::ExtendSweep: return {"sweeps", of, "--trials", value};
        case Verb::Start: return {"queue", "keep"};
    }
    return {};
}

}  // namespace

void perform(const QueueSteps& steps, QueueService& queue) {
    std::optional<ProblemError> first;
    for (const QueueStep& each : steps) {
        try {
            performOne(each, queue);
        } catch (const ProblemError& error) {
            if (!first) first = error;
        }
    }
    if (first) throw ProblemError(first->problem());
}

QString commandsOf(const QueueSteps& steps) {
    QStringList lines;
    for (const QueueStep& each : steps) lines << commandLine(wordsOf(each));
    return lines.join('\n');
}

}  // namespace lockstep::ui
