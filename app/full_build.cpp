#include "app/host_environment.h"
#include "app/plugin_folders.h"
#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/null/null_backend.h"
#include "engine/backend/reference/reference_backend.h"
#include "engine/session/places.h"

namespace lockstep {

Folders foldersOfThisBuild() {
    const auto places = placesFromEnvironment();
    auto plugins = pluginFoldersFromEnvironment();
    plugins.insert(plugins.begin(), places.data / "plugins");
    return {places.cache, std::move(plugins)};
}

std::vector<std::unique_ptr<Backend>> linkedBackends() {
    std::vector<std::unique_ptr<Backend>> out;
    out.push_back(makeCpuBackend());
    out.push_back(makeReferenceBackend());
    out.push_back(makeNullBackend());
    return out;
}

}  // namespace lockstep
