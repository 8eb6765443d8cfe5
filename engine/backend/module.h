#pragma once
#include <filesystem>
#include <memory>

#include "engine/backend/backend.h"

namespace lockstep {

// Opens a backend that lives in a shared object next to the program (or in LOCKSTEP_BACKENDS): exports
//   extern "C" int lockstep_backend_open(int abi, lockstep::Backend** backend, char* reason, size_t reasonBytes);
// which returns a ModuleStatus; unless it is Opened, `reason` holds one short zero-terminated text ("libcudnn.so.9: cannot
// open shared object file"). The module compares `abi` with the kBackendAbi it was built with and throws nothing.
// Problems say which file, driver or library is missing and what to do: "backend.module-missing", "backend.module-broken",
// "backend.no-driver", "backend.no-device". The library is never unloaded.
constexpr int kBackendAbi = 1;
enum class ModuleStatus : int { Opened = 0, Broken = 1, NoDriver = 2, NoDevice = 3 };       // other values: Broken
Result<std::unique_ptr<Backend>> openBackendModule(const std::filesystem::path& file);

}  // namespace lockstep
