#pragma once
#include <string>

#include "app/spec_options.h"
#include "engine/search/sweep_spec.h"

namespace lockstep {

// Whoever starts it is told: settings and their values, how many trials, how many at once and on what, by what the best
// is chosen, and what that is worth. Lines.
std::string sweepText(const SweepSpec& sweep, const Environment& environment);

}  // namespace lockstep
