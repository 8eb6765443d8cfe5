#include "engine/backend/module.h"
#include "engine/backend/null/null_backend.h"

extern "C" int lockstep_backend_open(int abi, lockstep::Backend** backend, char*, std::size_t) {
    if (abi != lockstep::kBackendAbi) return 1;
    *backend = lockstep::makeNullBackend().release();
    return 0;
}
