#include <cstdio>

#include "engine/backend/backend.h"

// A module that cannot serve on this machine and says why (REASON, given by CMake).
extern "C" int lockstep_backend_open(int, lockstep::Backend**, char* reason, std::size_t reasonBytes) {
    std::snprintf(reason, reasonBytes, "%s", REASON);
    return 1;
}
