#pragma once
#include <optional>
#include <string_view>

namespace lockstep {

// The life of a trial: queued -> preparing -> running <-> paused -> stopping -> finished | stopped | failed | cancelled
// | crashed (its lease is free and it never ended). Every enabled or disabled button is a function of this one value.
enum class RunState { Queued, Preparing, Running, Paused, Stopping, Finished, Stopped, Failed, Cancelled, Crashed };
enum class RunSignal { Prepare, Start, Pause, Resume, Stop, Finish, ReportStopped, Fail, Cancel, Crash, Attempt };

std::string_view text(RunState state);
std::optional<RunState> runStateFrom(std::string_view text);
bool isFinal(RunState state);
std::optional<RunState> next(RunState state, RunSignal signal);  // empty: the signal means nothing in this state

}  // namespace lockstep
