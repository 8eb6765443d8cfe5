#include "app/host_environment.h"
#include "app/plugin_folders.h"
#include "engine/backend/null/null_backend.h"
#include "engine/backend/reference/reference_backend.h"

namespace lockstep {

Folders foldersOfThisBuild() { return {{}, pluginFoldersFromEnvironment()}; }

std::vector<std::unique_ptr<Backend>> linkedBackends() {
    std::vector<std::unique_ptr<Backend>> out;
    out.push_back(makeReferenceBackend());
    out.push_back(makeNullBackend());
    return out;
}

}  // namespace lockstep
