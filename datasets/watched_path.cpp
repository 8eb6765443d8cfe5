#include "datasets/watched_path.h"

#include <sys/stat.h>

#include <chrono>

#include "datasets/file_time.h"

namespace lockstep {

WatchedPath watched(const std::filesystem::path& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) return {path};
    const bool isFolder = S_ISDIR(facts.st_mode);
    return {path,
            isFolder ? WatchedPath::Kind::Folder : WatchedPath::Kind::File,
            facts.st_ino,
            isFolder ? 0 : static_cast<std::uint64_t>(facts.st_size),
            nanoseconds(facts.st_mtim),
            nanoseconds(facts.st_ctim)};
}

std::int64_t nowNs() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace lockstep
