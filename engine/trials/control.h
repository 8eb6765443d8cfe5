#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "engine/session/protocol.h"
#include "engine/session/session_client.h"

namespace lockstep {

// Sends a control to the run that listens at `socket` and waits, ten seconds at most, for its answer. Throws
// ProblemError: those of SessionClient::connect, "trial.no-answer", or what the run objects to.
void sendControl(const std::filesystem::path& socket, const ControlCommand& control);
void sendControl(SessionClient& client, const ControlCommand& control);

// What a run's line says to a control. Other lines (events, what was dropped) say nothing.
struct ControlAnswer {
    std::string agreed;              // the control's name
    std::optional<Problem> refused;  // or what the run objects to; of code "trial.refused" where it is not told
};
std::optional<ControlAnswer> controlAnswerFrom(std::string_view line);

// The last number of a range of events that a run could not send; empty: the line tells of none.
std::optional<std::int64_t> droppedUntil(std::string_view line);

}  // namespace lockstep
