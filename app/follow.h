#pragma once
#include <chrono>
#include <functional>
#include <optional>

#include "app/history_access.h"
#include "engine/session/session_client.h"
#include "engine/spec/train_event.h"

namespace lockstep {

// Follows a trial to its end: its events so far from the history, then from the run's socket, none missing and none
// doubled. Returns its last event (RunFinished or RunFailed), or nothing when it ended without one (it crashed) or is
// queued. Throws ProblemError.
using OnEvent = std::function<void(const NumberedEvent&)>;
std::optional<TrainEvent> followTrial(const History& history, std::int64_t trial, const OnEvent& onEvent);

// Sends a control to the run of a trial and waits for its answer. Throws ProblemError "trial.not-running",
// "trial.no-answer" or what the run objects to.
void sendControl(const History& history, std::int64_t trial, const ControlCommand& control);

}  // namespace lockstep
