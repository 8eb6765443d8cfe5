#pragma once
#include <span>
#include <string>
#include <string_view>

#include "engine/spec/trial_settings.h"

namespace lockstep {

std::string shellQuoted(std::string_view word);  // as a POSIX shell reads it back, whatever is in it

// The command line that means the same trial, quoted for a shell: what differs from `usual`, as trainArguments().
std::string trainCommand(std::span<const Setting> settings, std::span<const Setting> usual);
std::string trainCommand(const TrialSpec& spec);

}  // namespace lockstep
