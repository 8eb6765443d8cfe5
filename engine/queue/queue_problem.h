#pragma once
#include <optional>
#include <string>

#include "engine/core/result.h"

namespace lockstep {

// A problem as the history keeps it, {"field","code","args"}, and back; empty: it is none.
std::string problemText(const Problem& problem);
std::optional<Problem> problemFrom(const std::string& text);

}  // namespace lockstep
