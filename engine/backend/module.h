#pragma once
#include <filesystem>
#include <memory>

#include "engine/backend/backend.h"

namespace lockstep {

// Opens a backend that lives in a shared object next to the program (or in LOCKSTEP_BACKENDS): exports
//   extern "C" int lockstep_backend_open(int abi, lockstep::Backend** backend, char* reason, size_t reasonBytes);
// which returns 0 and a backend, or anything else and a short zero-terminated reason: "abi" (it was built for another
// kBackendAbi), "no-driver: <words>", "old-driver: <words>", "no-device: <words>", "old-library: <words>", or just
// words. It throws nothing. Problems say which file, driver or library is missing and what to do:
// "backend.module-missing", "backend.module-broken", "backend.no-driver", "backend.old-driver", "backend.no-device",
// "backend.old-library". The library is never unloaded.
constexpr int kBackendAbi = 6;
Result<std::unique_ptr<Backend>> openBackendModule(const std::filesystem::path& file);

}  // namespace lockstep
