#pragma once
#include <filesystem>

namespace lockstep {

// A file is not the one that was listed: throws ProblemError "picture-index.changed" naming it, and removes the index
// that says what it was, if the list is kept in one. Any thread.
[[noreturn]] void changedSince(const std::filesystem::path& file, const std::filesystem::path& index);

// It is the list that was changed under whoever reads by it. Likewise, "picture-index.damaged" naming the index.
[[noreturn]] void damagedIndex(const std::filesystem::path& index);

}  // namespace lockstep
