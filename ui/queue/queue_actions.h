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
};
QueueActions actionsFor(const std::vector<QueueRow>& rows, const ChosenTrials& chosen);

// Those that wait and are not held yet, or are held.
QueueSteps heldOf(const std::vector<QueueRow>& rows, const ChosenTrials& chosen, bool held);
QueueSteps cancelledOf(const std::vector<QueueRow>& rows, const ChosenTrials& chosen);

}  // namespace lockstep::ui
