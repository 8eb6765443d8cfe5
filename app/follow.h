#pragma once
#include <functional>
#include <optional>

#include "engine/session/places.h"
#include "engine/spec/train_event.h"

namespace lockstep {

// Follows a trial to its end: its events so far from the history, then from the run's socket, none missing and none
// doubled. Returns its last event (RunFinished or RunFailed), or nothing when it ended without one (it crashed, or was
// cancelled). Waits while it is queued. Throws ProblemError.
using OnEvent = std::function<void(const NumberedEvent&)>;
std::optional<TrainEvent> followTrial(const Places& places, std::int64_t trial, const OnEvent& onEvent);

}  // namespace lockstep
