#pragma once
#include <filesystem>
#include <memory>

#include "engine/backend/backend.h"
#include "engine/core/user_folders.h"

namespace lockstep {

// `timings`: the folder of what was found by timing, see AlgorithmChoice.
std::unique_ptr<Backend> makeCpuBackend(std::filesystem::path timings = cacheFolder());

}  // namespace lockstep
