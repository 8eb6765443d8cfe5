#pragma once
#include <cstdint>
#include <filesystem>

#include "engine/core/result.h"

namespace lockstep {

// Where everything lives. LOCKSTEP_HOME set: all below that folder. Otherwise XDG: data in XDG_DATA_HOME/lockstep,
// caches in XDG_CACHE_HOME/lockstep, sockets in XDG_RUNTIME_DIR/lockstep (or below data, mode 0700, when unset).
struct Places {
    std::filesystem::path data, cache, runtime, config;
    std::filesystem::path history() const { return data / "history.sqlite"; }
    std::filesystem::path runs() const { return data / "runs"; }
    std::filesystem::path lease(std::int64_t trial) const { return run(trial) / "lease"; }  // held while it runs
    std::filesystem::path run(std::int64_t trial) const { return runs() / std::to_string(trial); }
    std::filesystem::path trace(std::int64_t trial) const { return run(trial) / "trace"; }  // see trace_file.h
    std::filesystem::path socket(std::int64_t trial) const {
        return runtime / ("run-" + std::to_string(trial) + ".sock");
    }
};

Places placesFromEnvironment();  // reads the environment, creates nothing
// Creates the folders. Problems: "home.unwritable" with the folder and the system's words; "history.emptied": the
// history has 0 bytes, though there are run folders.
Result<Places> preparePlaces(const Places& places);
// For one below them. Throws ProblemError, the same.
void requireFolder(const std::filesystem::path& folder);

}  // namespace lockstep
