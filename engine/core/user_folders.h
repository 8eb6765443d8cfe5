#pragma once
#include <filesystem>

namespace lockstep {

// LOCKSTEP_HOME, made absolute, below which everything lives where it is set; else empty.
std::filesystem::path lockstepHome();

std::filesystem::path absoluteFrom(const char* variable);  // the environment's; empty: not set, or relative

// Ours in a folder of the XDG base directory specification: below the variable's, or `fallback` in the user's home.
// Paths that are not absolute are ignored, as it demands.
std::filesystem::path xdgFolder(const char* variable, const char* fallback);

std::filesystem::path cacheFolder();  // of what may be deleted at any time

}  // namespace lockstep
