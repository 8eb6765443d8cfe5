#pragma once
#include <QString>
#include <optional>
#include <vector>

#include "ui/history/queue_reader.h"
#include "ui/style/explanation.h"
#include "ui/style/page.h"

namespace lockstep::ui {

// The sentences of the queue.
QString queueTrialText(const QueueRow& row);  // "12: wide nets", by its model and devices where it has no title
QString queueStateText(const QueueRow& row);  // "running, epoch 3 of 10", "held", "after trial 7"
std::optional<double> shareDone(const QueueRow& row);  // of one that runs, 0 to 1; empty: it waits
QString queueCountText(const QueueSnapshot& queue);    // "1 running, 3 waiting, 1 held"; empty: nothing is queued

// Something waits that nobody starts: the machine was started anew, or what starts it was killed.
bool isStalled(const QueueSnapshot& queue);

// What stands where the page would be empty; nullopt: it has something to show. `queue`: null before it was read.
std::optional<EmptyState> emptyQueue(const QueueSnapshot* queue, const std::optional<Explanation>& unreadable);

}  // namespace lockstep::ui
