#pragma once
#include <span>
#include <string>

#include "engine/backend/backend.h"

namespace lockstep::test {

// Ranks on these cards, a thread each. What is wrong, in words; nothing where all is well.

// Sums of whole numbers, which no order of adding changes.
std::string sums(const Backend& backend, std::span<const DeviceChoice> ranks);

// The last rank gives up while the others wait for its part of a sum: all are told so, by whom and why, and soon.
std::string abortReachesAll(const Backend& backend, std::span<const DeviceChoice> ranks);

}  // namespace lockstep::test
