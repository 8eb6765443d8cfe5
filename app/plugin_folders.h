#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace lockstep {

// LOCKSTEP_PLUGINS: folders, separated by colons.
inline std::vector<std::filesystem::path> pluginFoldersFromEnvironment() {
    const char* value = std::getenv("LOCKSTEP_PLUGINS");
    std::vector<std::filesystem::path> out;
    for (std::string rest = value ? value : ""; !rest.empty();) {
        const auto colon = rest.find(':');
        if (colon != 0) out.emplace_back(rest.substr(0, colon));
        rest = colon == rest.npos ? "" : rest.substr(colon + 1);
    }
    return out;
}

}  // namespace lockstep
