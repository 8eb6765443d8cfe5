#pragma once
#include <optional>
#include <string>

#include "engine/search/sweep_spec.h"
#include "engine/train/environment.h"

namespace lockstep {

// The field of any setting by its path, as this environment knows it: of the trial's own, or of the chosen model,
// dataset, optimizer, schedule; where another one has a setting of that name, of that. Empty: nobody has it.
std::optional<ParamField> fieldOf(const Environment& environment, const TrialSpec& spec, const std::string& path);

}  // namespace lockstep
