#pragma once
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "engine/core/result.h"

namespace lockstep {

// Throws ProblemError "file.unreadable", for the reason that errno has.
[[noreturn]] inline void unreadable(const std::filesystem::path& file) {
    throw ProblemError({file.string(), "file.unreadable", {std::strerror(errno)}});
}

}  // namespace lockstep
