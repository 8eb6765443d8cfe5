#pragma once
#include <optional>

#include "engine/train/choose_precision.h"

namespace lockstep {

// choosePrecision(), which takes seconds to minutes, with what is being measured on a StatusLine.
std::optional<ChosenPrecision> choosePrecisionShown(ResolvedSpec& resolved, const ModelInput& input,
                                                    PrecisionTiming timing = {});

}  // namespace lockstep
