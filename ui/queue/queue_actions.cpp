#include "ui/queue/queue_actions.h"

namespace lockstep::ui {

std::vector<QueueEntry> waitingOf(const std::vector<QueueRow>& rows) {
    std::vector<QueueEntry> waiting;
    for (const QueueRow& each : rows) {
        if (!each.line.isRunning) waiting.push_back(each.line.entry);
    }
    return waiting;
}

QueueActions actionsFor(const std::vector<QueueRow>& rows, const ChosenTrials& chosen) {
    const auto waiting = waitingOf(rows);
    const QueueSteps all = cancelledOf(rows, chosen);
    QueueActions can;
    can.open = all.size() == 1;
    can.cancel = !all.empty();
    can.hold = !heldOf(rows, chosen, true).empty();
    can.release = !heldOf(rows, chosen, false).empty();
    can.up = !movedUp(waiting, chosen).empty();
    can.down = !movedDown(waiting, chosen).empty();
    can.first = !movedFirst(waiting, chosen).empty();
    can.last = !movedLast(waiting, chosen).empty();
    can.priority = !raisedBy(waiting, chosen, 1).empty();
    return can;
}

// One that runs is not held: that would mean nothing until it fails.
QueueSteps heldOf(const std::vector<QueueRow>& rows, const ChosenTrials& chosen, bool held) {
    QueueSteps steps;
    for (const QueueRow& each : rows) {
        const QueueEntry& entry = each.line.entry;
        if (each.line.isRunning || entry.held == held || !chosen.contains(entry.trial)) continue;
        steps.push_back({held ? QueueStep::Verb::Hold : QueueStep::Verb::Release, entry.trial});
    }
    return steps;
}

QueueSteps cancelledOf(const std::vector<QueueRow>& rows, const ChosenTrials& chosen) {
    QueueSteps steps;
    for (const QueueRow& each : rows) {
        if (chosen.contains(each.line.entry.trial)) steps.push_back({QueueStep::Verb::Cancel, each.line.entry.trial});
    }
    return steps;
}

}  // namespace lockstep::ui
