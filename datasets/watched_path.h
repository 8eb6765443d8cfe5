#pragma once
#include <cstdint>
#include <filesystem>

namespace lockstep {

// What a listing depended on, as it was before it was read: a folder by the times at which its names changed (whoever
// unpacks an archive sets the one back, and so changes the other), a file by its size, too, or that nothing was there.
// Links are followed.
struct WatchedPath {
    enum class Kind : std::uint64_t { Absent, Folder, File };

    std::filesystem::path path;
    Kind kind = Kind::Absent;
    std::uint64_t number = 0;  // of the inode: another one may come in its place
    std::uint64_t bytes = 0;   // of files
    std::int64_t modifiedNs = 0;
    std::int64_t changedNs = 0;  // of the inode

    bool operator==(const WatchedPath&) const = default;
};

// As it is now. What cannot be looked at is absent.
WatchedPath watched(const std::filesystem::path& path);

std::int64_t nowNs();  // since 1970, as files' times are

}  // namespace lockstep
