#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/data/dataset.h"

namespace lockstep {

struct PluginReport {
    std::filesystem::path file;
    std::string id, version;
    std::vector<std::string> datasets;  // ids it offers
    // Empty: loaded. "plugin.crashed", "plugin.timed-out", "plugin.abi", "plugin.no-entry", "plugin.not-loadable",
    // "plugin.wrong-table", "plugin.refused", "plugin.duplicate", "plugin.no-probe", "plugin.babbles".
    std::vector<Problem> problems;
};

// Finds *.so in the folders given, probes each in a child process (`probeCommand FILE` prints one JSON line; a crash or
// three seconds of silence disqualify it), then loads the sound ones into this process and turns their tables into
// dataset entries. Libraries are never unloaded. The C header is plugins/lockstep_plugin.h.
struct LoadedPlugins {
    std::vector<PluginReport> reports;
    std::vector<DatasetEntry> datasets;
};
// What a plugin has to tell: LOCKSTEP_LOG_INFO or LOCKSTEP_LOG_WARNING, and its words. Any thread.
using PluginLog = std::function<void(const std::string& plugin, int level, const std::string& text)>;
LoadedPlugins loadPlugins(const std::vector<std::filesystem::path>& folders,
                          const std::vector<std::string>& probeCommand, PluginLog log = {});

// What the child does: loads the file, checks its table, prints the line. Returns the exit status.
int probePlugin(const std::filesystem::path& file);

}  // namespace lockstep
