#pragma once
#include <array>

#include "engine/spec/run_state.h"

namespace lockstep::ui {

enum class RunAction { Pause, Resume, FinishEpoch, StopNow, Kill, ResumeFromCheckpoint, Scale, Balance };
inline constexpr std::array kRunActions{RunAction::Pause,   RunAction::Resume, RunAction::FinishEpoch,
                                        RunAction::StopNow, RunAction::Kill,   RunAction::ResumeFromCheckpoint,
                                        RunAction::Scale,   RunAction::Balance};

// What a person can do with a run: a function of its state; for resuming, of whether a checkpoint is there, and for
// balancing, of whether the devices' parts can differ (two of them at least, in fast mode).
class RunActions {
public:
    explicit RunActions(RunState state, bool hasCheckpoint = true, bool canBalance = true)
        : m_state(state), m_hasCheckpoint(hasCheckpoint), m_canBalance(canBalance) {}
    bool enabled(RunAction action) const;
    // Pause and Resume share a place, and so do what ends a run and what goes on with an ended one.
    bool shown(RunAction action) const;

private:
    RunState m_state;
    bool m_hasCheckpoint, m_canBalance;
};

}  // namespace lockstep::ui
