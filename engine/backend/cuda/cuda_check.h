#pragma once
#include <cublasLt.h>
#include <cuda_runtime.h>

#include <string>

#include "engine/core/error.h"

namespace lockstep {

// Turns a status into an EngineError that names the place; out of memory keeps its own kind.
inline void check(cudaError_t status, const std::string& where) {
    if (status == cudaSuccess) return;
    const auto kind = status == cudaErrorMemoryAllocation ? EngineError::Kind::OutOfMemory : EngineError::Kind::Device;
    throw EngineError(kind, where, cudaGetErrorString(status));
}

inline void check(cublasStatus_t status, const std::string& where) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw EngineError(EngineError::Kind::Device, where, cublasLtGetStatusString(status));
}

}  // namespace lockstep
