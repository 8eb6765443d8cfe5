#pragma once
#include <cstdint>
#include <set>
#include <span>

#include "engine/history/trial_queue.h"
#include "ui/queue/queue_steps.h"

namespace lockstep::ui {

// What moves trials among those that wait, as a person means it who sees them as a list: `waiting` in its order, and
// which of them are chosen; they stay in their order. Empty: they are there already. Priorities follow the neighbours,
// or the list would not be in this order.
using ChosenTrials = std::set<std::int64_t>;

// Together, just before another one that is not chosen; 0: behind all.
QueueSteps movedBefore(std::span<const QueueEntry> waiting, const ChosenTrials& chosen, std::int64_t other);
QueueSteps movedUp(std::span<const QueueEntry> waiting, const ChosenTrials& chosen);  // by one place
QueueSteps movedDown(std::span<const QueueEntry> waiting, const ChosenTrials& chosen);
QueueSteps movedFirst(std::span<const QueueEntry> waiting, const ChosenTrials& chosen);  // before all, of any priority
QueueSteps movedLast(std::span<const QueueEntry> waiting, const ChosenTrials& chosen);   // each of its own priority
QueueSteps raisedBy(std::span<const QueueEntry> waiting, const ChosenTrials& chosen,
                    std::int64_t by);  // the priorities

}  // namespace lockstep::ui
