#include <cstdio>
#include <cstdlib>

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/module.h"
#include "tests/gpu/host/cuda_runtime.h"

// The CUDA module with one card, which is the host: for whole programs. LOCKSTEP_HOST_CUDA_BREAKS_AT is the number of
// the graph launch with which the card fails for good.
extern "C" __attribute__((visibility("default"))) int lockstep_backend_open(int abi, lockstep::Backend** backend,
                                                                            char* reason, size_t reasonBytes) {
    if (abi != lockstep::kBackendAbi) {
        std::snprintf(reason, reasonBytes, "abi");
        return 1;
    }
    if (const char* launch = std::getenv("LOCKSTEP_HOST_CUDA_BREAKS_AT"))
        host_cuda::breakCardAt(0, std::strtoul(launch, nullptr, 10));
    *backend = new lockstep::cuda::CudaBackend(1, {});
    return 0;
}
