#pragma once
#include <string_view>

#include "app/context.h"
#include "app/sweep_options.h"

namespace lockstep {

// Whether a sweep's objective is a function, which is asked in place of training: "branin", "hartmann6", "table:FILE".
bool namesFunction(std::string_view objective);

// Tries the sweep's method on that function, where the sweep varies nothing on all of the function's domain, and prints
// each cell with its loss when it has ended; with `json` as one object in a line. Writes no history. The exit status.
int runFunctionSweep(const Context& context, const SweepOptions& options, bool json);

}  // namespace lockstep
