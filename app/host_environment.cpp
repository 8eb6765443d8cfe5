#include "app/host_environment.h"

#include <dlfcn.h>

#include <cstdlib>

#include "datasets/catalog.h"
#include "engine/backend/module.h"

namespace lockstep {

namespace fs = std::filesystem;

namespace {

constexpr const char* kCudaModule = "lockstep_cuda.so";

// The first place that has the module; where none has, the place where it is missed.
fs::path cudaModule() {
    const auto beside = thisProgram().parent_path();
    std::vector<fs::path> places;
    if (const char* chosen = std::getenv("LOCKSTEP_BACKENDS"); chosen && *chosen) places.emplace_back(chosen);
    places.insert(places.end(), {beside / "backends", beside.parent_path() / "lib" / "lockstep" / "backends"});
    std::error_code ignored;
    for (const auto& place : places) {
        if (fs::exists(place / kCudaModule, ignored)) return place / kCudaModule;
    }
    return places.front() / kCudaModule;
}

// The module brings libraries that fill 100 MB of every process, so it is left alone where nothing could use it.
Result<std::unique_ptr<Backend>> openCuda() {
    const fs::path module = cudaModule();
    std::error_code ignored;
    if (fs::exists(module, ignored) && !dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL)) {
        const char* reason = dlerror();
        return Problem{module.string(), "backend.no-driver", {module.string(), reason ? reason : "libcuda.so.1"}};
    }
    return openBackendModule(module);
}

}  // namespace

fs::path thisProgram() {
    std::error_code failed;
    const auto path = fs::read_symlink("/proc/self/exe", failed);
    return failed ? fs::path("lockstep") : path;
}

std::unique_ptr<HostEnvironment> discover(const Folders& folders) {
    auto out = std::make_unique<HostEnvironment>();
    for (auto& backend : linkedBackends()) out->environment.add(std::move(backend));
    out->environment.addLater("cuda", openCuda);
    for (const auto& model : builtinModels()) out->environment.add(model);
    for (auto& dataset : builtinDatasets(folders.cache)) out->environment.add(std::move(dataset));
    auto plugins = loadPlugins(folders.plugins, {thisProgram().string(), "probe-plugin"});
    for (auto& dataset : plugins.datasets) out->environment.add(std::move(dataset));
    out->plugins = std::move(plugins.reports);
    return out;
}

}  // namespace lockstep
