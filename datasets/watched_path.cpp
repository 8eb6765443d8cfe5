#include "datasets/watched_path.h"

#include <sys/stat.h>

#include <chrono>

namespace lockstep {

namespace {

std::int64_t nanoseconds(const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

}  // namespace

WatchedPath watched(const std::filesystem::path& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) return {path};
    WatchedPath found{path, WatchedPath::Kind::Folder, facts.st_ino, 0, nanoseconds(facts.st_mtim), 0};
    if (S_ISDIR(facts.st_mode)) return found;
    found.kind = WatchedPath::Kind::File;
    found.bytes = static_cast<std::uint64_t>(facts.st_size);
    found.changedNs = nanoseconds(facts.st_ctim);
    return found;
}

std::int64_t nowNs() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace lockstep
