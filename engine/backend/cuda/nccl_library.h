#pragma once
#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <string>

namespace lockstep::cuda {

// The part of NCCL's interface that is used, by its names (nccl.h of 2.18 and later, which only add to it): the library
// is opened when ranks on several cards first need it, so neither building nor one card asks for it.
using ncclComm_t = struct ncclComm*;
struct ncclUniqueId {
    std::array<char, 128> internal;
};
enum ncclResult_t : int { ncclSuccess = 0, ncclInProgress = 7 };
enum ncclRedOp_t : int { ncclSum = 0 };
enum ncclDataType_t : int {
    ncclUint8 = 1,
    ncclInt32 = 2,
    ncclInt64 = 4,
    ncclFloat16 = 6,
    ncclFloat32 = 7,
    ncclFloat64 = 8,
    ncclBfloat16 = 9
};
// As of version 2.18: a library takes the fields that the version has.
struct ncclConfig_t {
    std::size_t size = sizeof(ncclConfig_t);
    unsigned magic = 0xcafebeef, version = 21800;
    int blocking = 0;
    int cgaClusterSize = kUndefined, minCTAs = kUndefined, maxCTAs = kUndefined;
    const char* netName = nullptr;
    int splitShare = kUndefined;

    static constexpr int kUndefined = -2147483647 - 1;
};

struct NcclLibrary {
    // Throws EngineError(Device), naming the library and what to do, where it cannot be opened or is too old.
    explicit NcclLibrary(const std::string& path);
    NcclLibrary(const NcclLibrary&) = delete;
    NcclLibrary& operator=(const NcclLibrary&) = delete;

    std::string file;
    ncclResult_t (*getVersion)(int* version) = nullptr;
    const char* (*getErrorString)(ncclResult_t result) = nullptr;
    const char* (*getLastError)(ncclComm_t comm) = nullptr;
    ncclResult_t (*getUniqueId)(ncclUniqueId* id) = nullptr;
    ncclResult_t (*commInitRankConfig)(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank,
                                       ncclConfig_t* config) = nullptr;
    ncclResult_t (*commGetAsyncError)(ncclComm_t comm, ncclResult_t* result) = nullptr;
    ncclResult_t (*commAbort)(ncclComm_t comm) = nullptr;
    ncclResult_t (*allReduce)(const void* in, void* out, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                              ncclComm_t comm, cudaStream_t stream) = nullptr;
    ncclResult_t (*reduceScatter)(const void* in, void* out, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                                  ncclComm_t comm, cudaStream_t stream) = nullptr;
    ncclResult_t (*allGather)(const void* in, void* out, std::size_t count, ncclDataType_t type, ncclComm_t comm,
                              cudaStream_t stream) = nullptr;
    ncclResult_t (*broadcast)(const void* in, void* out, std::size_t count, ncclDataType_t type, int root,
                              ncclComm_t comm, cudaStream_t stream) = nullptr;
};

}  // namespace lockstep::cuda
