#include <cstdio>

#include "engine/backend/module.h"

// A module of another version of the program.
extern "C" int lockstep_backend_open(int abi, lockstep::Backend**, char* reason, std::size_t reasonBytes) {
    if (abi == lockstep::kBackendAbi + 1) return 0;
    std::snprintf(reason, reasonBytes, "abi");
    return 1;
}
