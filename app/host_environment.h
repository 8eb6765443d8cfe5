#pragma once
#include <filesystem>
#include <memory>
#include <vector>

#include "engine/plugin/plugin_host.h"
#include "engine/train/environment.h"

namespace lockstep {

// Where this build keeps caches and looks for plugins. One implementation per kind of build.
struct Folders {
    std::filesystem::path cache;  // empty: none
    std::vector<std::filesystem::path> plugins;
};
Folders foldersOfThisBuild();

// The backends linked into this build. One implementation per kind of build.
std::vector<std::unique_ptr<Backend>> linkedBackends();

std::filesystem::path thisProgram();  // the executable's own path

// Everything this machine offers: backends (linked ones and modules), models, datasets, plugins.
struct HostEnvironment {
    Environment environment;
    std::vector<PluginReport> plugins;
};
std::unique_ptr<HostEnvironment> discover(const Folders& folders);

}  // namespace lockstep
