#include <cuda_runtime.h>
#include <cudnn.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/module.h"

namespace {

// CUDA's numbers: 13020 is 13.2.
std::string cudaVersion(int number) { return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10); }

std::string cudnnVersion(std::size_t number) {
    return std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
           std::to_string(number % 100);
}

// Why no card can be used, as module.h has it; empty: `cards` can. A driver runs programs of its own major version's
// toolkits and of all before it.
std::string refusal(int& cards) {
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0) return "no-driver: libcuda.so.1 is not installed, or does not answer";
    if (driver / 1000 < runtime / 1000)
        return "old-driver: it is for CUDA " + cudaVersion(driver) + ", and this module needs " +
               cudaVersion(runtime / 1000 * 1000);
    const cudaError_t status = cudaGetDeviceCount(&cards);
    if (status == cudaErrorNoDevice || (status == cudaSuccess && cards == 0))
        return "no-device: the driver reports no card";
    if (status != cudaSuccess) return std::string("no-driver: ") + cudaGetErrorString(status);
    const std::size_t cudnn = cudnnGetVersion();
    if (cudnn / 10000 != CUDNN_MAJOR || cudnn < CUDNN_VERSION / 100 * 100)
        return "old-library: cuDNN " + cudnnVersion(cudnn) + " was found, and this module needs " +
               cudnnVersion(CUDNN_VERSION) + " or a later one of " + std::to_string(CUDNN_MAJOR);
    return {};
}

}  // namespace

// Called once by backend/module after dlopen. Returns 0 and a backend that the caller owns, or 1 and words for people.
extern "C" __attribute__((visibility("default"))) int lockstep_backend_open(int abi, lockstep::Backend** backend,
                                                                            char* reason, size_t reasonBytes) {
    int cards = 0;
    const std::string why = abi == lockstep::kBackendAbi ? refusal(cards) : "abi";
    if (!why.empty()) {
        std::snprintf(reason, reasonBytes, "%s", why.c_str());
        return 1;
    }
    lockstep::cuda::LibraryFiles files;
    if (std::filesystem::exists(LOCKSTEP_NCCL)) files.nccl = LOCKSTEP_NCCL;
    *backend = new lockstep::cuda::CudaBackend(cards, files);
    return 0;
}
