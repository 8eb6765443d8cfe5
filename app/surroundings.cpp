#include "app/surroundings.h"

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

void addCuda(Environment& environment) {
    auto backend = openBackendModule(cudaModule());
    if (backend.ok()) environment.add(std::move(backend).value());
    else environment.addMissing("cuda", backend.problems().front());
}

}  // namespace

fs::path thisProgram() {
    std::error_code failed;
    const auto path = fs::read_symlink("/proc/self/exe", failed);
    return failed ? fs::path("lockstep") : path;
}

std::unique_ptr<Surroundings> lookAround(const Folders& folders) {
    auto out = std::make_unique<Surroundings>();
    for (auto& backend : linkedBackends()) out->environment.add(std::move(backend));
    addCuda(out->environment);
    for (const auto& model : builtinModels()) out->environment.add(model);
    for (auto& dataset : builtinDatasets(folders.cache)) out->environment.add(std::move(dataset));
    auto plugins = loadPlugins(folders.plugins, {thisProgram().string(), "probe-plugin"});
    for (auto& dataset : plugins.datasets) out->environment.add(std::move(dataset));
    out->plugins = std::move(plugins.reports);
    return out;
}

}  // namespace lockstep
