#include "ui/run/run_actions.h"

namespace lockstep::ui {

bool RunActions::enabled(RunAction action) const {
    const bool trains = m_state == RunState::Running || m_state == RunState::Paused;
    switch (action) {
        case RunAction::Pause: return next(m_state, RunSignal::Pause).has_value();
        case RunAction::Resume: return next(m_state, RunSignal::Resume).has_value();
        case RunAction::FinishEpoch: return m_state == RunState::Running;
        case RunAction::StopNow: return next(m_state, RunSignal::Stop).has_value();
        case RunAction::Kill: return !isFinal(m_state) && m_state != RunState::Queued;  // nobody to kill yet
        case RunAction::ResumeFromCheckpoint: return m_hasCheckpoint && next(m_state, RunSignal::Attempt).has_value();
        case RunAction::Scale: return trains;
        case RunAction::Balance: return trains && m_canBalance;
    }
    return false;
}

bool RunActions::shown(RunAction action) const {
    switch (action) {
        case RunAction::Pause: return !isFinal(m_state) && m_state != RunState::Paused;
        case RunAction::Resume: return m_state == RunState::Paused;
        case RunAction::ResumeFromCheckpoint: return next(m_state, RunSignal::Attempt).has_value();
        default: return !isFinal(m_state);
    }
}

}  // namespace lockstep::ui
