#pragma once
#include "engine/core/param_schema.h"

namespace lockstep {

// The settings of a trial that belong to none of its choices, in the order in which a person meets them; for forms and
// their help. The fallbacks are TrialSpec's, the ranges those that validate() holds a spec to.
const ParamSchema& trialFields();

}  // namespace lockstep
