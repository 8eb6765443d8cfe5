#include "datasets/open_archives.h"

#include <sys/resource.h>

#include <algorithm>

namespace lockstep {

namespace {

std::size_t mostOpen() {
    constexpr rlim_t kMost = 256, kShare = 4;
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    return static_cast<std::size_t>(std::min(limit.rlim_cur / kShare, kMost));
}

}  // namespace

OpenArchives::OpenArchives(std::vector<std::filesystem::path> archives) : m_paths(std::move(archives)) {
    const std::size_t open = std::min(m_paths.size(), mostOpen());
    m_open.reserve(open);
    for (std::size_t i = 0; i < open; ++i) m_open.emplace_back(m_paths[i]);
}

}  // namespace lockstep
