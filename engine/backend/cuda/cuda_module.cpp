#include <cuda_runtime.h>

#include <cstdio>
#include <filesystem>

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/module.h"

// Called once by backend/module after dlopen. Returns 0 and a backend that the caller owns, or 1 and words for people.
extern "C" __attribute__((visibility("default"))) int lockstep_backend_open(int abi, lockstep::Backend** backend,
                                                                            char* reason, size_t reasonBytes) {
    if (abi != lockstep::kBackendAbi) {
        std::snprintf(reason, reasonBytes, "abi");
        return 1;
    }
    int cards = 0;
    const cudaError_t status = cudaGetDeviceCount(&cards);
    if (status != cudaSuccess) {
        std::snprintf(reason, reasonBytes, "no-driver: %s", cudaGetErrorString(status));
        return 1;
    }
    if (cards == 0) {
        std::snprintf(reason, reasonBytes, "no-device: the driver reports no card");
        return 1;
    }
    const bool isThere = std::filesystem::exists(LOCKSTEP_NCCL);
    *backend = new lockstep::cuda::CudaBackend(cards, isThere ? LOCKSTEP_NCCL : "libnccl.so.2");
    return 0;
}
