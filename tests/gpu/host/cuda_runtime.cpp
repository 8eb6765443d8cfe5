#include "tests/gpu/host/cuda_runtime.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using Work = std::function<void()>;

struct HostGraphOfCuda {
    std::shared_ptr<std::vector<Work>> work = std::make_shared<std::vector<Work>>();
};

// Recorded: how often; reached: the last recording that its stream has come to.
struct HostEventOfCuda {
    std::mutex mutex;
    std::condition_variable changed;
    std::uint64_t recorded = 0, reached = 0;
    std::shared_ptr<std::vector<Work>> captured;         // recorded on a stream that was captured

    void reach(std::uint64_t number) {
        const std::lock_guard lock(mutex);
        reached = std::max(reached, number);
        changed.notify_all();
    }
    void await(std::uint64_t number) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return reached >= number; });
    }
};

class HostStreamOfCuda {
public:
    HostStreamOfCuda() : m_thread([this] { run(); }) {}
    ~HostStreamOfCuda() {
        {
            const std::lock_guard lock(m_mutex);
            m_ends = true;
        }
        m_changed.notify_all();
        m_thread.join();
    }

    void add(Work work) {
        if (captured) return captured->push_back(std::move(work));
        {
            const std::lock_guard lock(m_mutex);
            m_work.push_back(std::move(work));
        }
        m_changed.notify_all();
    }
    bool isIdle() {
        const std::lock_guard lock(m_mutex);
        return m_work.empty();
    }
    void drain() {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_work.empty(); });
    }

    std::shared_ptr<std::vector<Work>> captured;         // null: not captured; used by the thread that gives work

private:
    void run() {
        std::unique_lock lock(m_mutex);
        for (;;) {
            m_changed.wait(lock, [&] { return m_ends || !m_work.empty(); });
            if (m_work.empty()) return;
            const Work& work = m_work.front();           // it stays until it is done: the queue is empty once all is
            lock.unlock();
            work();
            lock.lock();
            m_work.pop_front();
            m_changed.notify_all();
        }
    }

    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<Work> m_work;
    bool m_ends = false;
    std::thread m_thread;
};

namespace {

// What cudaMalloc gave out, by where it begins; and all streams.
struct Card {
    std::mutex mutex;
    std::map<std::uintptr_t, std::size_t> memory;
    std::size_t used = 0, limit = 0, allocations = 0;
    std::set<HostStreamOfCuda*> streams;
};

Card& card() {
    static Card* const made = new Card;                  // streams may outlive what is static
    return *made;
}

}  // namespace

namespace host_cuda {

std::size_t allocations() {
    const std::lock_guard lock(card().mutex);
    return card().allocations;
}

void limitMemory(std::size_t bytes) {
    const std::lock_guard lock(card().mutex);
    card().limit = bytes;
}

}  // namespace host_cuda

const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
        case cudaSuccess: return "no error";
        case cudaErrorInvalidValue: return "invalid argument";
        case cudaErrorMemoryAllocation: return "out of memory";
        case cudaErrorNotReady: return "device not ready";
        case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
        case cudaErrorPeerAccessAlreadyEnabled: return "peer access is already enabled";
        case cudaErrorStreamCaptureUnsupported: return "operation not permitted when stream is capturing";
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

cudaError_t cudaDeviceSynchronize() {
    std::set<HostStreamOfCuda*> streams;
    {
        const std::lock_guard lock(card().mutex);
        streams = card().streams;
    }
    for (HostStreamOfCuda* stream : streams) stream->drain();
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
    const std::lock_guard lock(card().mutex);
    const auto at = reinterpret_cast<std::uintptr_t>(data);
    const auto behind = card().memory.upper_bound(at);
    const bool found = behind != card().memory.begin() && at < std::prev(behind)->first + std::prev(behind)->second;
    *attributes = {found ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered, 0};
    return cudaSuccess;
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
    const std::size_t whole = (bytes + 255) / 256 * 256;
    const std::lock_guard lock(card().mutex);
    ++card().allocations;
    if (card().limit > 0 && card().used + whole > card().limit) return cudaErrorMemoryAllocation;
    *data = std::aligned_alloc(256, whole);
    if (!*data) return cudaErrorMemoryAllocation;
    std::memset(*data, 0xa5, whole);                     // a card's memory has what was there before
    card().used += whole;
    card().memory[reinterpret_cast<std::uintptr_t>(*data)] = whole;
    return cudaSuccess;
}

cudaError_t cudaFree(void* data) {
    const std::lock_guard lock(card().mutex);
    const auto found = card().memory.find(reinterpret_cast<std::uintptr_t>(data));
    if (found == card().memory.end()) return cudaErrorInvalidValue;
    card().used -= found->second;
    card().memory.erase(found);
    std::free(data);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    if (bytes == 0) return cudaSuccess;
    // Pageable memory of the host is read before the call returns; the graph of a captured copy reads it each time.
    if (kind == cudaMemcpyHostToDevice && !stream->captured) {
        const auto* const begin = static_cast<const std::byte*>(from);
        stream->add([=, staged = std::vector<std::byte>(begin, begin + bytes)] { std::memcpy(to, staged.data(), bytes); });
        return cudaSuccess;
    }
    stream->add([=] { std::memcpy(to, from, bytes); });
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream) {
    stream->add([=] { std::memset(data, value, bytes); });
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    *stream = new HostStreamOfCuda;
    const std::lock_guard lock(card().mutex);
    card().streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    {
        const std::lock_guard lock(card().mutex);
        card().streams.erase(stream);
    }
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    if (stream->captured) return cudaErrorStreamCaptureUnsupported;
    stream->drain();
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    if (stream->captured) return cudaErrorStreamCaptureUnsupported;
    return stream->isIdle() ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    std::uint64_t number = 0;
    {
        const std::lock_guard lock(event->mutex);
        if (event->captured) {                           // the stream joins the capture; its order is that of the calls
            stream->captured = event->captured;
            return cudaSuccess;
        }
        number = event->recorded;
    }
    if (number > 0) stream->add([=] { event->await(number); });
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
    stream->captured = std::make_shared<std::vector<Work>>();
    return cudaSuccess;
}

// Ends it for all streams that have joined.
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    *graph = new HostGraphOfCuda{stream->captured};
    const std::lock_guard lock(card().mutex);
    for (HostStreamOfCuda* each : card().streams)
        if (each->captured == (*graph)->work) each->captured = nullptr;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
    *executable = new HostGraphOfCuda(*graph);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
    stream->add([work = executable->work] {
        for (const Work& each : *work) each();
    });
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    delete executable;
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
    *event = new HostEventOfCuda;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    cudaDeviceSynchronize();                             // streams may still come to it
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    std::uint64_t number = 0;
    {
        const std::lock_guard lock(event->mutex);
        event->captured = stream->captured;
        if (event->captured) return cudaSuccess;
        number = ++event->recorded;
    }
    stream->add([=] { event->reach(number); });
    return cudaSuccess;
}

void launchOnHost(cudaStream_t stream, std::function<void()> work) { stream->add(std::move(work)); }
