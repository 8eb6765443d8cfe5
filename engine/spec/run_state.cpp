#include "engine/spec/run_state.h"

#include <array>
#include <utility>

namespace lockstep {

namespace {

constexpr std::array<std::pair<RunState, std::string_view>, 10> kStateNames = {{
    {RunState::Queued, "queued"},
    {RunState::Preparing, "preparing"},
    {RunState::Running, "running"},
    {RunState::Paused, "paused"},
    {RunState::Stopping, "stopping"},
    {RunState::Finished, "finished"},
    {RunState::Stopped, "stopped"},
    {RunState::Failed, "failed"},
    {RunState::Cancelled, "cancelled"},
    {RunState::Crashed, "crashed"},
}};

struct Transition {
    RunState from;
    RunSignal signal;
    RunState to;
};

constexpr Transition kTable[] = {
    {RunState::Queued, RunSignal::Prepare, RunState::Preparing},
    {RunState::Queued, RunSignal::Cancel, RunState::Cancelled},
    {RunState::Preparing, RunSignal::Start, RunState::Running},
    {RunState::Preparing, RunSignal::Stop, RunState::Stopping},
    {RunState::Preparing, RunSignal::Cancel, RunState::Cancelled},
    {RunState::Running, RunSignal::Pause, RunState::Paused},
    {RunState::Running, RunSignal::Stop, RunState::Stopping},
    {RunState::Running, RunSignal::Finish, RunState::Finished},
    {RunState::Paused, RunSignal::Resume, RunState::Running},
    {RunState::Paused, RunSignal::Stop, RunState::Stopping},
    {RunState::Stopping, RunSignal::ReportStopped, RunState::Stopped},
    {RunState::Stopping, RunSignal::Finish, RunState::Finished},  // the request came during the last step
    {RunState::Stopped, RunSignal::Attempt, RunState::Queued},
    {RunState::Failed, RunSignal::Attempt, RunState::Queued},
    {RunState::Cancelled, RunSignal::Attempt, RunState::Queued},
    {RunState::Crashed, RunSignal::Attempt, RunState::Queued},
};

}  // namespace

std::string_view text(RunState state) {
    for (const auto& [each, name] : kStateNames) {
        if (each == state) return name;
    }
    return "?";
}

std::optional<RunState> runStateFrom(std::string_view text) {
    for (const auto& [state, name] : kStateNames) {
        if (name == text) return state;
    }
    return std::nullopt;
}

bool isFinal(RunState state) {
    switch (state) {
        case RunState::Finished:
        case RunState::Stopped:
        case RunState::Failed:
        case RunState::Cancelled:
        case RunState::Crashed: return true;
        default: return false;
    }
}

std::optional<RunState> next(RunState state, RunSignal signal) {
    if (!isFinal(state) && signal == RunSignal::Fail) return RunState::Failed;
    if (!isFinal(state) && signal == RunSignal::Crash) return RunState::Crashed;
    for (const auto& row : kTable) {
        if (row.from == state && row.signal == signal) return row.to;
    }
    return std::nullopt;
}

}  // namespace lockstep
