#pragma once
#include <cuda_runtime.h>

#include <string>

#include "engine/core/error.h"

namespace lockstep::cuda {

// What CUDA calls sticky: the card's context is lost, each later call fails as well, and "to continue using CUDA, the
// process must be terminated and relaunched" (driver_types.h). Numbers are those that older toolkits have no name for.
constexpr bool isSticky(cudaError_t status) {
    switch (static_cast<int>(status)) {
        case cudaErrorECCUncorrectable:
        case cudaErrorNvlinkUncorrectable:
        case 226:  // cudaErrorContained
        case cudaErrorIllegalAddress:
        case cudaErrorLaunchTimeout:
        case cudaErrorAssert:
        case cudaErrorHardwareStackError:
        case cudaErrorIllegalInstruction:
        case cudaErrorMisalignedAddress:
        case cudaErrorInvalidAddressSpace:
        case cudaErrorInvalidPc:
        case cudaErrorLaunchFailure:
        case 721:  // cudaErrorTensorMemoryLeak
        case cudaErrorMpsClientTerminated: return true;
        default: return false;
    }
}

inline EngineError::Kind kindOf(cudaError_t status) {
    if (status == cudaErrorMemoryAllocation) return EngineError::Kind::OutOfMemory;
    return isSticky(status) ? EngineError::Kind::CorruptedContext : EngineError::Kind::Device;
}

// Of cuDNN and cuBLAS, whose status does not tell why a card failed under them; the runtime remembers it.
inline EngineError::Kind kindOfLibraryFailure(bool outOfMemory) {
    return outOfMemory ? EngineError::Kind::OutOfMemory : kindOf(cudaPeekAtLastError());
}

// Turns a status into an EngineError that names the place; out of memory keeps its own kind.
inline void check(cudaError_t status, const std::string& where) {
    if (status == cudaSuccess) return;
    std::string words = cudaGetErrorString(status);
    if (status == cudaErrorNoKernelImageForDevice)
        words += "; configure with -DLOCKSTEP_CUDA_ARCHITECTURES=native on this machine, or =all, and build again";
    throw EngineError(kindOf(status), where, words);
}

}  // namespace lockstep::cuda
