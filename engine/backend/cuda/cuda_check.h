#pragma once
#include <cuda_runtime.h>

#include <string>

#include "engine/core/error.h"

namespace lockstep::cuda {

// Turns a status into an EngineError that names the place; out of memory keeps its own kind.
inline void check(cudaError_t status, const std::string& where) {
    if (status == cudaSuccess) return;
    const auto kind = status == cudaErrorMemoryAllocation ? EngineError::Kind::OutOfMemory : EngineError::Kind::Device;
    throw EngineError(kind, where, cudaGetErrorString(status));
}

}  // namespace lockstep::cuda
