#pragma once
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

// Something below a folder, and what it takes of the disk: blocks, of which a file with holes has fewer than its length
// says. A symbolic link is itself, not what it points to.
struct DiskFile {
    std::string path;                                // relative to the folder: "checkpoints/last.safetensors"
    std::uint64_t bytes = 0;                         // 512 times st_blocks
    std::uint64_t device = 0, inode = 0, names = 1;  // names: hard links that there are of it
    std::time_t changed = 0;                         // its content
    bool isFolder = false;
};

// By itself, with the path that is given; empty: nothing is there.
std::optional<DiskFile> diskFileAt(const std::filesystem::path& path);

// All below the folder, itself left out, at most 32 folders deep. No symbolic link is followed, neither below it nor
// the folder itself. Empty where it cannot be read; what vanishes meanwhile is left out.
std::vector<DiskFile> filesBelow(const std::filesystem::path& folder);

// What they take together: a file of several names is counted once.
std::uint64_t bytesOnDisk(std::span<const DiskFile> files);
// What removing these names would give back: nothing of a file that has others.
std::uint64_t bytesFreedBy(std::span<const DiskFile> files);

// Removes a file of filesBelow() as it was found: one of its folders that has become a symbolic link stops it.
// What is not there any more counts as removed. The error: empty.
std::error_code removeFileBelow(const std::filesystem::path& folder, const std::string& path);

}  // namespace lockstep
