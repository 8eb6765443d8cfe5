#include "tests/gpu/host/cuda_runtime.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
        case cudaSuccess: return "no error";
        case cudaErrorInvalidValue: return "invalid argument";
        case cudaErrorMemoryAllocation: return "out of memory";
        case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
        case cudaErrorPeerAccessAlreadyEnabled: return "peer access is already enabled";
    }
    return "unknown error";
}

cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaGetDeviceCount(int* count) {
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
    std::strcpy(properties->name, "host in place of a card");
    properties->totalGlobalMem = std::size_t{8} << 30;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }

cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }

namespace {

// What cudaMalloc gave out, by where it begins.
std::mutex memoryMutex;
std::map<std::uintptr_t, std::size_t> memory;

}  // namespace

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
    const std::lock_guard lock(memoryMutex);
    const auto at = reinterpret_cast<std::uintptr_t>(data);
    auto behind = memory.upper_bound(at);
    const bool found = behind != memory.begin() && at < std::prev(behind)->first + std::prev(behind)->second;
    *attributes = {found ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered, 0};
    return cudaSuccess;
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
    const std::size_t whole = (bytes + 255) / 256 * 256;
    *data = std::aligned_alloc(256, whole);
    if (!*data) return cudaErrorMemoryAllocation;
    const std::lock_guard lock(memoryMutex);
    memory[reinterpret_cast<std::uintptr_t>(*data)] = whole;
    return cudaSuccess;
}

cudaError_t cudaFree(void* data) {
    {
        const std::lock_guard lock(memoryMutex);
        memory.erase(reinterpret_cast<std::uintptr_t>(data));
    }
    std::free(data);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
    if (bytes > 0) std::memcpy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
    return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
    std::memset(data, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t) { return cudaMemset(data, value, bytes); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    *stream = new HostStreamOfCuda;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
    *event = new HostEventOfCuda;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }

void launchOnHost(cudaStream_t, std::function<void()> work) { work(); }
