#include "ui/queue/queue_order.h"

#include <algorithm>
#include <vector>

namespace lockstep::ui {

namespace {

using Entries = std::vector<QueueEntry>;
using Waiting = std::span<const QueueEntry>;

struct Parted {
    Entries chosen, others;
    std::size_t beforeFirst = 0, beforeLast = 0;  // others before the first, and before the last of the chosen
};

Parted part(Waiting waiting, const ChosenTrials& chosen) {
    Parted parts;
    for (const QueueEntry& each : waiting) {
        if (!chosen.contains(each.trial)) {
            parts.others.push_back(each);
            continue;
        }
        if (parts.chosen.empty()) parts.beforeFirst = parts.others.size();
        parts.beforeLast = parts.others.size();
        parts.chosen.push_back(each);
    }
    return parts;
}

// The chosen ones in front of the other of that place; beyond the last: behind all.
QueueSteps insertedAt(const Parted& parts, std::size_t place) {
    if (parts.chosen.empty()) return {};
    if (parts.beforeFirst == place && parts.beforeLast == place) return {};
    QueueSteps steps;
    const bool isLast = place >= parts.others.size();
    for (const QueueEntry& each : parts.chosen) {
        if (!isLast) {
            steps.push_back({QueueStep::Verb::Before, each.trial, parts.others[place].trial});
            continue;
        }
        const std::int64_t lowest = parts.others.empty() ? each.priority : parts.others.back().priority;
        if (each.priority != lowest) steps.push_back({QueueStep::Verb::Priority, each.trial, lowest});
        steps.push_back({QueueStep::Verb::Last, each.trial});
    }
    return steps;
}

}  // namespace

QueueSteps movedBefore(Waiting waiting, const ChosenTrials& chosen, std::int64_t other) {
    const Parted parts = part(waiting, chosen);
    const auto found = std::ranges::find(parts.others, other, &QueueEntry::trial);
    return insertedAt(parts, static_cast<std::size_t>(found - parts.others.begin()));
}

QueueSteps movedUp(Waiting waiting, const ChosenTrials& chosen) {
    const Parted parts = part(waiting, chosen);
    return insertedAt(parts, std::max<std::size_t>(parts.beforeFirst, 1) - 1);
}

QueueSteps movedDown(Waiting waiting, const ChosenTrials& chosen) {
    const Parted parts = part(waiting, chosen);
    return insertedAt(parts, std::min(parts.beforeLast + 1, parts.others.size()));
}

// The last of them first, so that each comes before the one that went before.
QueueSteps movedFirst(Waiting waiting, const ChosenTrials& chosen) {
    const Parted parts = part(waiting, chosen);
    if (insertedAt(parts, 0).empty()) return {};
    QueueSteps steps;
    for (const QueueEntry& each : parts.chosen) steps.push_back({QueueStep::Verb::First, each.trial});
    std::ranges::reverse(steps);
    return steps;
}

QueueSteps movedLast(Waiting waiting, const ChosenTrials& chosen) {
    QueueSteps steps;
    std::set<std::int64_t> priorities;  // of the chosen ones so far
    bool isBehind = true;
    for (const QueueEntry& each : waiting) {
        if (!chosen.contains(each.trial)) {
            isBehind = isBehind && !priorities.contains(each.priority);
            continue;
        }
        priorities.insert(each.priority);
        steps.push_back({QueueStep::Verb::Last, each.trial});
    }
    return isBehind ? QueueSteps() : steps;
}

QueueSteps raisedBy(Waiting waiting, const ChosenTrials& chosen, std::int64_t by) {
    QueueSteps steps;
    for (const QueueEntry& each : part(waiting, chosen).chosen)
        steps.push_back({QueueStep::Verb::Priority, each.trial, each.priority + by});
    return steps;
}

}  // namespace lockstep::ui
