#pragma once
#include <filesystem>
#include <memory>

#include "engine/backend/backend.h"
#include "engine/backend/plan_cache.h"

namespace lockstep {

// `timings`: the folder of what was found by timing, see AlgorithmChoice.
std::unique_ptr<Backend> makeCpuBackend(std::filesystem::path timings = planCacheFolder());

}  // namespace lockstep
