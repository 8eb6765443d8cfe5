#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "engine/core/result.h"

namespace lockstep {

struct ProbeAnswer {
    std::string id, version;
    std::vector<std::string> datasets;
};

// What a probe's line says: an answer, the problem it names, or "plugin.babbles". No allocation is larger than 32 times
// the line.
Result<ProbeAnswer> answerFrom(const std::string& line, const std::filesystem::path& file);

// Runs `command file` as a child in a process group of its own and believes the last line it prints. It has three
// seconds and 64 KiB; after that the whole group is killed.
Result<ProbeAnswer> probe(const std::filesystem::path& file, const std::vector<std::string>& command);

}  // namespace lockstep
