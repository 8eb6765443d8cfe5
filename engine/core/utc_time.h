#pragma once
#include <chrono>
#include <ctime>
#include <optional>
#include <string>

namespace lockstep {

// "2025-03-01T12:30:00.250Z"; such texts sort by time.
std::string utcText(std::chrono::system_clock::time_point when);
inline std::string utcNow() { return utcText(std::chrono::system_clock::now()); }

// Whole seconds since 1970, with or without a part of one in the text; empty: it is no such time.
std::optional<std::time_t> utcSeconds(const std::string& utc);

}  // namespace lockstep
