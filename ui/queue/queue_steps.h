#pragma once
#include <QString>
#include <cstdint>
#include <vector>

#include "engine/queue/queue_service.h"

namespace lockstep::ui {

// One thing that is asked of the queue, as `lockstep queue` and `lockstep sweeps` have it, too.
struct QueueStep {
    enum class Verb {
        Hold,
        Release,
        First,
        Last,
        Before,    // value: the other trial
        Priority,  // value
        After,     // value: the trial that must have ended before; 0: none
        Cancel,
        PauseSweep,
        ContinueSweep,
        CancelSweep,
        RetrySweep,
        ExtendSweep,  // value: cells in all
        Start         // of nothing: a keeper, where none is
    };
    Verb verb = Verb::Start;
    std::int64_t of = 0;  // a trial, or a sweep
    std::int64_t value = 0;
    bool operator==(const QueueStep&) const = default;
};
using QueueSteps = std::vector<QueueStep>;

// All of them, whatever becomes of one: a trial may have ended meanwhile. Throws then what the first of those threw.
void perform(const QueueSteps& steps, QueueService& queue);

QString commandsOf(const QueueSteps& steps);  // a line each: "lockstep queue hold 7"

}  // namespace lockstep::ui
