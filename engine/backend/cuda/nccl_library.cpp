#include "engine/backend/cuda/nccl_library.h"

#include <dlfcn.h>

#include "engine/core/error.h"

namespace lockstep::cuda {

namespace {

constexpr int kOldest = 21800;

[[noreturn]] void refuse(const std::string& file, const std::string& reason) {
    throw EngineError(EngineError::Kind::Device, file,
                      reason + "; ranks on several cards need NCCL 2.18 or later: packaging/setup --cuda brings it");
}

template <class Function>
void find(void* library, const std::string& file, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    if (!function) refuse(file, std::string("it has no ") + name);
}

}  // namespace

// It stays open: threads of its own may still run when the last communicator is gone.
NcclLibrary::NcclLibrary(const std::string& path) : file(path) {
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char* const reason = dlerror();
        refuse(file, reason ? reason : "it cannot be opened");
    }
    find(library, file, "ncclGetVersion", getVersion);
    find(library, file, "ncclGetErrorString", getErrorString);
    int version = 0;
    getVersion(&version);
    if (version < kOldest) refuse(file, "its version is " + std::to_string(version));
    find(library, file, "ncclGetLastError", getLastError);
    find(library, file, "ncclGetUniqueId", getUniqueId);
    find(library, file, "ncclCommInitRankConfig", commInitRankConfig);
    find(library, file, "ncclCommGetAsyncError", commGetAsyncError);
    find(library, file, "ncclCommAbort", commAbort);
    find(library, file, "ncclAllReduce", allReduce);
    find(library, file, "ncclReduceScatter", reduceScatter);
    find(library, file, "ncclAllGather", allGather);
    find(library, file, "ncclBroadcast", broadcast);
}

}  // namespace lockstep::cuda
