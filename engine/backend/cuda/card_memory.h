#pragma once
#include <cuda_runtime.h>

namespace lockstep::cuda {

// Whether memory that a collective is given is a card's; otherwise it is the host's.
inline bool isOnCard(const void* memory) {
    cudaPointerAttributes found{};
    return cudaPointerGetAttributes(&found, memory) == cudaSuccess && found.type == cudaMemoryTypeDevice;
}

}  // namespace lockstep::cuda
