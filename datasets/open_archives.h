#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "datasets/random_file.h"

namespace lockstep {

// The archives of a collection, whose splits share them. The first stay open, as many as a quarter of the files that
// the process may have open, and at most 256; the others are opened whenever they are read. Any thread.
class OpenArchives {
public:
    explicit OpenArchives(std::vector<std::filesystem::path> archives);  // throws ProblemError "file.*"

    const std::filesystem::path& path(std::size_t archive) const { return m_paths[archive]; }
    // Calls use(const RandomFile&).
    template <class Use>
    auto read(std::size_t archive, Use use) const {
        return archive < m_open.size() ? use(m_open[archive]) : use(RandomFile(m_paths[archive]));
    }

private:
    std::vector<std::filesystem::path> m_paths;
    std::vector<RandomFile> m_open;  // the first of them
};

}  // namespace lockstep
