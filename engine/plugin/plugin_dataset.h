#pragma once
#include "engine/plugin/plugin_library.h"

namespace lockstep {

// What stands in the catalog for one dataset kind of a plugin.
DatasetEntry entryFor(const PluginLibrary& library, const lockstep_dataset_kind& kind);

}  // namespace lockstep
