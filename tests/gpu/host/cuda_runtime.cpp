#include "tests/gpu/host/cuda_runtime.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

using Work = std::function<void()>;

// What the streams that have joined it put there; used by one thread at a time. Streams live on until it ends.
struct Capture {
    std::vector<Work> work;
    std::vector<std::shared_ptr<HostStreamOfCuda>> streams;
};

struct HostGraphOfCuda {
    std::shared_ptr<Capture> captured;
};

// Recorded: how often; reached: the last recording that its stream has come to. Streams that still come to it keep it.
struct HostEventOfCuda : std::enable_shared_from_this<HostEventOfCuda> {
    std::mutex mutex;
    std::condition_variable changed;
    std::uint64_t recorded = 0, reached = 0;
    std::shared_ptr<Capture> captured;      // recorded on a stream that was captured
    std::shared_ptr<HostEventOfCuda> self;  // until it is destroyed

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

class HostStreamOfCuda : public std::enable_shared_from_this<HostStreamOfCuda> {
public:
    explicit HostStreamOfCuda(int onDevice) : device(onDevice), m_thread([this] { run(); }) {}
    ~HostStreamOfCuda() {
        {
            const std::lock_guard lock(m_mutex);
            m_ends = true;
        }
        m_changed.notify_all();
        m_thread.join();
    }

    void add(Work work) {
        if (captured) return captured->work.push_back(std::move(work));
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

    const int device;
    std::shared_ptr<Capture> captured;  // null: not captured; used by the thread that gives work

private:
    void run() {
        std::unique_lock lock(m_mutex);
        for (;;) {
            m_changed.wait(lock, [&] { return m_ends || !m_work.empty(); });
            if (m_work.empty()) return;
            const Work& work = m_work.front();  // it stays until it is done: the queue is empty once all is
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
    struct Memory {
        std::size_t bytes = 0;
        int device = 0;
    };
    std::map<std::uintptr_t, Memory> memory;
    std::map<std::uintptr_t, std::size_t> pinned;  // of the host, by where it begins
    std::size_t used = 0, limit = 0, allocations = 0;
    std::map<HostStreamOfCuda*, std::shared_ptr<HostStreamOfCuda>> streams;
};

Card& card() {
    static Card* const made = new Card;  // streams may outlive what is static
    return *made;
}

constexpr std::size_t kCards = 8;
std::atomic<std::size_t> launches{0}, breaksAt{0};
std::atomic<int> toBreak{0};
std::array<std::atomic<cudaError_t>, kCards> states{};
thread_local int currentDevice = 0;

cudaError_t stateOf(int device) { return states.at(static_cast<std::size_t>(device)); }

void drain(int device) {
    auto streams = [] {
        const std::lock_guard lock(card().mutex);
        return card().streams;  // they live on while they are waited for
    }();
    for (const auto& [id, stream] : streams)
        if (stream->device == device) stream->drain();
}

}  // namespace

namespace host_cuda {

std::size_t allocations() {
    const std::lock_guard lock(card().mutex);
    return card().allocations;
}

std::size_t graphLaunches() { return launches.load(); }

void limitMemory(std::size_t bytes) {
    const std::lock_guard lock(card().mutex);
    card().limit = bytes;
}

void breakCard(int device, cudaError_t status) { states.at(static_cast<std::size_t>(device)) = status; }

void breakCardAt(int device, std::size_t graphLaunch) {
    toBreak = device;
    breaksAt = graphLaunch;
}

void mendCards() {
    for (auto& state : states) state = cudaSuccess;
}

}  // namespace host_cuda

const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
        case cudaSuccess: return "no error";
        case cudaErrorInvalidValue: return "invalid argument";
        case cudaErrorMemoryAllocation: return "out of memory";
        case cudaErrorDevicesUnavailable: return "CUDA-capable device(s) is/are busy or unavailable";
        case cudaErrorNoKernelImageForDevice: return "no kernel image is available for execution on the device";
        case cudaErrorNotReady: return "device not ready";
        case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
        case cudaErrorPeerAccessAlreadyEnabled: return "peer access is already enabled";
        case cudaErrorStreamCaptureUnsupported: return "operation not permitted when stream is capturing";
        default: return "unknown error";
    }
}

cudaError_t cudaGetLastError() { return stateOf(currentDevice); }

cudaError_t cudaPeekAtLastError() { return stateOf(currentDevice); }

cudaError_t cudaGetDeviceCount(int* count) {
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
    std::strcpy(properties->name, "host in place of a card");
    properties->totalGlobalMem = std::size_t{8} << 30;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
    *value = 9;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* bus, int bytes, int device) {
    std::snprintf(bus, static_cast<std::size_t>(bytes), "0000:%02d:00.0", device);
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    currentDevice = device;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
    drain(currentDevice);
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
    const std::lock_guard lock(card().mutex);
    const auto at = reinterpret_cast<std::uintptr_t>(data);
    const auto behind = card().memory.upper_bound(at);
    const bool found =
        behind != card().memory.begin() && at < std::prev(behind)->first + std::prev(behind)->second.bytes;
    *attributes = {found ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered, 0};
    return cudaSuccess;
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
    if (stateOf(currentDevice) != cudaSuccess) return stateOf(currentDevice);
    const std::size_t whole = (bytes + 255) / 256 * 256;
    const std::lock_guard lock(card().mutex);
    ++card().allocations;
    if (card().limit > 0 && card().used + whole > card().limit) return cudaErrorMemoryAllocation;
    *data = std::aligned_alloc(256, whole);
    if (!*data) return cudaErrorMemoryAllocation;
    std::memset(*data, 0xa5, whole);  // a card's memory has what was there before
    card().used += whole;
    card().memory[reinterpret_cast<std::uintptr_t>(*data)] = {whole, currentDevice};
    return cudaSuccess;
}

// Work that may use it ends first, as on a card.
cudaError_t cudaFree(void* data) {
    int device = 0;
    {
        const std::lock_guard lock(card().mutex);
        const auto found = card().memory.find(reinterpret_cast<std::uintptr_t>(data));
        if (found == card().memory.end()) return cudaErrorInvalidValue;
        device = found->second.device;
        card().used -= found->second.bytes;
        card().memory.erase(found);
    }
    drain(device);
    std::free(data);
    return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned) {
    const std::size_t whole = (bytes + 255) / 256 * 256;
    *data = std::aligned_alloc(256, whole);
    if (!*data) return cudaErrorMemoryAllocation;
    const std::lock_guard lock(card().mutex);
    ++card().allocations;
    card().pinned[reinterpret_cast<std::uintptr_t>(*data)] = whole;
    return cudaSuccess;
}

// As with cudaFree.
cudaError_t cudaFreeHost(void* data) {
    drain(currentDevice);
    {
        const std::lock_guard lock(card().mutex);
        if (card().pinned.erase(reinterpret_cast<std::uintptr_t>(data)) == 0) return cudaErrorInvalidValue;
    }
    std::free(data);
    return cudaSuccess;
}

static bool isPinned(const void* memory) {
    const auto at = reinterpret_cast<std::uintptr_t>(memory);
    const std::lock_guard lock(card().mutex);
    const auto next = card().pinned.upper_bound(at);
    return next != card().pinned.begin() && at < std::prev(next)->first + std::prev(next)->second;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    if (bytes == 0) return cudaSuccess;
    // Pageable memory of the host is read before the call returns, pinned memory when the copy's turn comes; the graph
    // of a captured copy reads it each time.
    if (kind == cudaMemcpyHostToDevice && !stream->captured && !isPinned(from)) {
        const auto* const begin = static_cast<const std::byte*>(from);
        stream->add(
            [=, staged = std::vector<std::byte>(begin, begin + bytes)] { std::memcpy(to, staged.data(), bytes); });
        return stateOf(stream->device);
    }
    stream->add([=] { std::memcpy(to, from, bytes); });
    return stateOf(stream->device);
}

cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream) {
    stream->add([=] { std::memset(data, value, bytes); });
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    auto made = std::make_shared<HostStreamOfCuda>(currentDevice);
    *stream = made.get();
    const std::lock_guard lock(card().mutex);
    card().streams.emplace(*stream, std::move(made));
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    std::shared_ptr<HostStreamOfCuda> last;
    const std::lock_guard lock(card().mutex);
    const auto found = card().streams.find(stream);
    if (found == card().streams.end()) return cudaErrorInvalidValue;
    last = std::move(found->second);
    card().streams.erase(found);
    return cudaSuccess;  // its thread ends behind the lock
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    if (stream->captured) return cudaErrorStreamCaptureUnsupported;
    stream->drain();
    return stateOf(stream->device);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    if (stream->captured) return cudaErrorStreamCaptureUnsupported;
    return stream->isIdle() ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    std::uint64_t number = 0;
    {
        const std::lock_guard lock(event->mutex);
        if (event->captured) {  // the stream joins the capture; its order is that of the calls
            stream->captured = event->captured;
            stream->captured->streams.push_back(stream->shared_from_this());
            return cudaSuccess;
        }
        number = event->recorded;
    }
    if (number > 0) stream->add([kept = event->shared_from_this(), number] { kept->await(number); });
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
    stream->captured = std::make_shared<Capture>();
    stream->captured->streams = {stream->shared_from_this()};
    return cudaSuccess;
}

// Ends it for all streams that have joined.
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    *graph = new HostGraphOfCuda{stream->captured};
    const auto streams = std::exchange((*graph)->captured->streams, {});
    for (const auto& each : streams) each->captured = nullptr;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
    *executable = new HostGraphOfCuda(*graph);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
    if (++launches == breaksAt) host_cuda::breakCard(toBreak);
    stream->add([captured = executable->captured] {
        for (const Work& each : captured->work) each();
    });
    return stateOf(stream->device);
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
    const auto made = std::make_shared<HostEventOfCuda>();
    made->self = made;
    *event = made.get();
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    event->self = nullptr;
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
    stream->add([kept = event->shared_from_this(), number] { kept->reach(number); });
    return cudaSuccess;
}

void launchOnHost(cudaStream_t stream, std::function<void()> work) { stream->add(std::move(work)); }
