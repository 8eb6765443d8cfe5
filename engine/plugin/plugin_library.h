#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/param_schema.h"
#include "engine/core/result.h"
#include "engine/plugin/host_services.h"

namespace lockstep {

// A plugin loaded into this process, its table checked. The shared object itself is never unloaded.
struct PluginLibrary {
    std::shared_ptr<const HostServices> host;
    const lockstep_plugin* table = nullptr;

    std::vector<const lockstep_dataset_kind*> datasets() const;
};

// Versions, identifiers, settings whose fallbacks are within their limits, functions that must be there. Throws
// ProblemError ("plugin.refused", "plugin.abi", "plugin.wrong-table").
void checkTable(const lockstep_plugin* table);

// Loads the file, calls its entry and checks every table.
Result<PluginLibrary> loadLibrary(const std::filesystem::path& file, const PluginLog& log);

// The settings of a checked kind. Throws ProblemError ("plugin.wrong-table").
ParamSchema schemaOf(const lockstep_dataset_kind& kind);

}  // namespace lockstep
