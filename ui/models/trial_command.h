#pragma once
#include <QString>

#include "engine/spec/trial_spec.h"

namespace lockstep::ui {

// The shell command that trains the same spec: what a reader wants to see always, the rest where it is not the default.
QString trainCommandOf(const TrialSpec& spec);

}  // namespace lockstep::ui
