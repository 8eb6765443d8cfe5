#pragma once
#include <cuda_runtime.h>

#include <string>

#include "engine/core/error.h"

namespace lockstep::cuda {

// Turns a status into an EngineError that names the place; out of memory keeps its own kind.
inline void check(cudaError_t status, const std::string& where) {
    if (status == cudaSuccess) return;
    const auto kind = status == cudaErrorMemoryAllocation ? EngineError::Kind::OutOfMemory : EngineError::Kind::Device;
    std::string words = cudaGetErrorString(status);
    if (status == cudaErrorNoKernelImageForDevice)
        words += "; configure with -DLOCKSTEP_CUDA_ARCHITECTURES=native on this machine, or =all, and build again";
    throw EngineError(kind, where, words);
}

}  // namespace lockstep::cuda
