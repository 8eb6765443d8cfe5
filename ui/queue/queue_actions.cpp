#include "ui/queue/queue_actions.h"

#include <algorithm>
#include <map>

namespace lockstep::ui {

namespace {

bool mayWait(const QueueRow& row, const ChosenTrials& chosen) {
    return !row.line.isRunning && chosen.contains(row.line.entry.trial);
}

using Awaited = std::map<std::int64_t, std::int64_t>;  // by the trial that waits

Awaited awaitedIn(const std::vector<QueueRow>& rows) {
    Awaited awaited;
    for (const QueueRow& each : rows) {
        if (each.line.entry.after) awaited.emplace(each.line.entry.trial, *each.line.entry.after);
    }
    return awaited;
}

// It is one of them, or comes after one by others between.
bool comesAfter(std::int64_t trial, const ChosenTrials& chosen, const Awaited& awaited) {
    for (std::size_t steps = 0; steps <= awaited.size(); ++steps) {
        if (chosen.contains(trial)) return true;
        const auto next = awaited.find(trial);
        if (next == awaited.end()) return false;
        trial = next->second;
    }
    return true;  // a circle, which nobody joins
}

}  // namespace

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
    can.after = !awaitable(rows, chosen).empty();
    can.notAfter = !afterOf(rows, chosen, 0).empty();
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

QueueSteps afterOf(const std::vector<QueueRow>& rows, const ChosenTrials& chosen, std::int64_t other) {
    QueueSteps steps;
    for (const QueueRow& each : rows) {
        const QueueEntry& entry = each.line.entry;
        if (!mayWait(each, chosen) || entry.after.value_or(0) == other) continue;
        steps.push_back({QueueStep::Verb::After, entry.trial, other});
    }
    return steps;
}

std::vector<const QueueRow*> awaitable(const std::vector<QueueRow>& rows, const ChosenTrials& chosen) {
    std::vector<const QueueRow*> others;
    if (std::ranges::none_of(rows, [&](const QueueRow& each) { return mayWait(each, chosen); })) return others;
    const Awaited awaited = awaitedIn(rows);
    for (const QueueRow& each : rows) {
        if (!comesAfter(each.line.entry.trial, chosen, awaited)) others.push_back(&each);
    }
    return others;
}

QueueSteps cancelledOf(const std::vector<QueueRow>& rows, const ChosenTrials& chosen) {
    QueueSteps steps;
    for (const QueueRow& each : rows) {
        if (chosen.contains(each.line.entry.trial)) steps.push_back({QueueStep::Verb::Cancel, each.line.entry.trial});
    }
    return steps;
}

}  // namespace lockstep::ui
