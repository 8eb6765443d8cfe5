#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/listing.h"
#include "engine/trials/disk_service.h"

namespace lockstep {

// What a plan to free some of the disk says, for the terminal and for scripts.

std::string trialNumbers(const std::vector<std::int64_t>& trials);  // "3, 5, 7", the first of many
std::string freePlanText(const FreePlan& plan);                     // what would go, and what stays and why
Json freePlanJson(const FreePlan& plan, const Freed& freed, const std::optional<Problem>& undone, const Words& words);

}  // namespace lockstep
