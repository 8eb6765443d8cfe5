#include "tests/gpu/host/fake_nccl.h"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/backend/cuda/nccl_library.h"
#include "tests/gpu/host/cuda_runtime.h"

using namespace lockstep::cuda;

namespace {

constexpr auto kInternalError = static_cast<ncclResult_t>(3), kRemoteError = static_cast<ncclResult_t>(6);

struct Part {
    const void* in = nullptr;
    void* out = nullptr;
};

// Ranks that have one id. An operation is done by the last rank that comes to it, on that rank's stream.
struct Group {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::uint64_t, std::vector<Part>> parts;  // by operation, then rank
    std::map<std::uint64_t, int> arrived;
    std::uint64_t done = 0;  // operations
    bool isBroken = false;   // a rank has aborted: its memory is not touched any more
};

std::mutex groupsMutex;
std::map<std::uint64_t, std::weak_ptr<Group>> groups;
std::uint64_t ids = 0;
std::atomic<std::uint64_t> communicators{0};
std::atomic<int> faultKind{kNoFault}, faultRank{-1};
std::atomic<std::uint64_t> faultOperation{0};

template <class T>
void addAll(const std::vector<Part>& parts, std::size_t begin, std::size_t count, std::vector<std::byte>& result) {
    result.resize(count * sizeof(T));
    auto* const sum = reinterpret_cast<T*>(result.data());
    for (std::size_t i = 0; i < count; ++i) {
        sum[i] = T{};
        for (const Part& part : parts) sum[i] = static_cast<T>(sum[i] + static_cast<const T*>(part.in)[begin + i]);
    }
}

std::vector<std::byte> sumOf(const std::vector<Part>& parts, std::size_t begin, std::size_t count,
                             ncclDataType_t type) {
    std::vector<std::byte> result;
    if (type == ncclFloat64) addAll<double>(parts, begin, count, result);
    else if (type == ncclFloat32) addAll<float>(parts, begin, count, result);
    else addAll<unsigned char>(parts, begin, count, result);
    return result;
}

}  // namespace

// What is still on a stream, or in a graph, keeps it.
struct lockstep::cuda::ncclComm : std::enable_shared_from_this<ncclComm> {
    std::shared_ptr<ncclComm> self;  // until it is aborted
    std::shared_ptr<Group> group;
    int rank = 0, size = 0;
    std::atomic<int> polls{0};
    std::uint64_t operations = 0;         // called
    std::atomic<std::uint64_t> begun{0};  // on the stream: of a captured call once for each launch of the graph
    std::atomic<int> error{ncclSuccess};
};

namespace {

ncclResult_t begin(ncclComm_t comm, const Part& part, cudaStream_t stream,
                   std::function<void(const std::vector<Part>&)> work) {
    const auto isFaulty = [comm](FakeNcclFault kind, std::uint64_t number) {
        return faultKind == kind && comm->rank == faultRank && number == faultOperation;
    };
    if (isFaulty(kFailsAtStart, comm->operations++)) return kInternalError;
    launchOnHost(stream, [=, kept = comm->shared_from_this(), work = std::move(work)] {
        const std::uint64_t number = comm->begun++;
        if (isFaulty(kFailsOnCard, number)) comm->error = kRemoteError;
        if (comm->error != ncclSuccess) return;
        Group& group = *comm->group;
        std::unique_lock lock(group.mutex);
        auto& parts = group.parts[number];
        parts.resize(static_cast<std::size_t>(comm->size));
        parts[static_cast<std::size_t>(comm->rank)] = part;
        if (group.isBroken) return;
        if (++group.arrived[number] == comm->size) {
            work(parts);
            group.done = number + 1;
            group.changed.notify_all();
            return;
        }
        group.changed.wait(lock, [&] { return group.done > number || group.isBroken; });
    });
    return ncclInProgress;  // as a communicator that does not block may say
}

std::size_t sizeOf(ncclDataType_t type) {
    return type == ncclFloat64 || type == ncclInt64      ? 8
           : type == ncclUint8                           ? 1
           : type == ncclFloat16 || type == ncclBfloat16 ? 2
                                                         : 4;
}

}  // namespace

extern "C" {

void fakeNcclSetFault(FakeNcclFault fault, int rank, std::uint64_t operation) {
    faultKind = fault;
    faultRank = rank;
    faultOperation = operation;
}

std::uint64_t fakeNcclCommunicators() { return communicators; }

ncclResult_t ncclGetVersion(int* version) {
    *version = 22800;
    return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
    return result == kInternalError ? "internal error"
           : result == kRemoteError ? "remote process exited or there was a network error"
                                    : "no error";
}

const char* ncclGetLastError(ncclComm_t) { return "as the test wanted"; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
    const std::lock_guard lock(groupsMutex);
    std::memcpy(id->internal.data(), &++ids, sizeof ids);
    return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
    if (config->magic != 0xcafebeef || config->blocking != 0) return kInternalError;
    std::uint64_t number = 0;
    std::memcpy(&number, id.internal.data(), sizeof number);
    const std::lock_guard lock(groupsMutex);
    auto group = groups[number].lock();
    if (!group) groups[number] = group = std::make_shared<Group>();
    const auto made = std::make_shared<ncclComm>();
    made->self = made;
    *comm = made.get();
    (*comm)->group = group;
    (*comm)->rank = rank;
    (*comm)->size = ranks;
    (*comm)->polls = 3;
    ++communicators;
    return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* result) {
    *result = comm->polls-- > 0 ? ncclInProgress : static_cast<ncclResult_t>(comm->error.load());
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
    const std::shared_ptr<ncclComm> last = std::move(comm->self);
    {
        const std::lock_guard lock(comm->group->mutex);
        comm->group->isBroken = true;
    }
    comm->group->changed.notify_all();
    --communicators;
    return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* in, void* out, std::size_t count, ncclDataType_t type, ncclRedOp_t,
                           ncclComm_t comm, cudaStream_t stream) {
    return begin(comm, {in, out}, stream, [=](const std::vector<Part>& parts) {
        const auto sum = sumOf(parts, 0, count, type);
        for (const Part& part : parts) std::memcpy(part.out, sum.data(), sum.size());
    });
}

ncclResult_t ncclReduceScatter(const void* in, void* out, std::size_t count, ncclDataType_t type, ncclRedOp_t,
                               ncclComm_t comm, cudaStream_t stream) {
    return begin(comm, {in, out}, stream, [=](const std::vector<Part>& parts) {
        for (std::size_t rank = 0; rank < parts.size(); ++rank) {
            const auto sum = sumOf(parts, rank * count, count, type);
            std::memcpy(parts[rank].out, sum.data(), sum.size());
        }
    });
}

ncclResult_t ncclAllGather(const void* in, void* out, std::size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
    return begin(comm, {in, out}, stream, [=, bytes = count * sizeOf(type)](const std::vector<Part>& parts) {
        for (const Part& to : parts)
            for (std::size_t rank = 0; rank < parts.size(); ++rank)
                std::memmove(static_cast<std::byte*>(to.out) + rank * bytes, parts[rank].in, bytes);
    });
}

ncclResult_t ncclBroadcast(const void* in, void* out, std::size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
    return begin(comm, {in, out}, stream, [=, bytes = count * sizeOf(type)](const std::vector<Part>& parts) {
        for (const Part& to : parts) std::memmove(to.out, parts[static_cast<std::size_t>(root)].in, bytes);
    });
}
}
