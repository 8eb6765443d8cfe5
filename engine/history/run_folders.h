#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace lockstep {

// A trial's files lie in a folder named by its number. A folder belongs to whoever made it: histories come and go
// (moved away, restored from a backup), and two of them may give the same number.

// Makes the folder of the first number that is at least `least` and above all there are, and `runs` if need be. Another
// process, whatever its history, never gets the same. Throws ProblemError "home.unwritable",
// "history.full".
std::int64_t claimRunFolder(const std::filesystem::path& runs, std::int64_t least);

std::vector<std::int64_t> runFolders(const std::filesystem::path& runs);  // their numbers, ascending; none: empty

// Whether it says what its trial was, by a spec or a checkpoint; others hold nothing to go on with. Throws
// filesystem_error.
bool holdsTrial(const std::filesystem::path& folder);

}  // namespace lockstep
