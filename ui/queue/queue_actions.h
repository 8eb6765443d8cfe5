#pragma once
#include <vector>

#include "ui/history/queue_reader.h"
#include "ui/queue/queue_order.h"

namespace lockstep::ui {

std::vector<QueueEntry> waitingOf(const std::vector<QueueRow>& rows);  // those that do not run, in their order

// What may be done with the chosen trials of the queue; every action of the page is a function of this.
struct QueueActions {
    bool open = false;  // one of them
    bool hold = false, release = false, cancel = false;
    bool up = false, down = false, first = false, last = false;
    bool priority = false;  // of any that waits
    bool after = false;     // there is another one that they may wait for
    bool notAfter = false;  // one of them waits for another, or would
};
QueueActions actionsFor(const std::vector<QueueRow>& rows, const ChosenTrials& chosen);

// Those that wait and are not held yet, or are held.
QueueSteps heldOf(const std::vector<QueueRow>& rows, const ChosenTrials& chosen, bool held);
// Those that wait, after another trial; 0: after none any more.
QueueSteps afterOf(const std::vector<QueueRow>& rows, const ChosenTrials& chosen, std::int64_t other);
// Which trials they may wait for: of the others, those that do not wait for one of them. Empty: none of them waits.
std::vector<const QueueRow*> awaitable(const std::vector<QueueRow>& rows, const ChosenTrials& chosen);
QueueSteps cancelledOf(const std::vector<QueueRow>& rows, const ChosenTrials& chosen);

}  // namespace lockstep::ui
