#pragma once
#include <optional>
#include <string>

#include "engine/spec/train_event.h"
#include "engine/spec/trial_spec.h"

namespace lockstep {

// "bf16"; where the run found it out, "bf16, chosen by precision=auto". "auto": it has not begun.
std::string precisionText(const TrialSpec& spec, const std::optional<RunStarted>& started);

}  // namespace lockstep
