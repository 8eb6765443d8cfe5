#pragma once
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "engine/backend/cuda/cuda_check.h"
#include "engine/backend/stream.h"

namespace lockstep::cuda {

class CudaEvent final : public Event {
public:
    CudaEvent() { check(cudaEventCreateWithFlags(&m_event, cudaEventDisableTiming), "cudaEventCreate"); }
    ~CudaEvent() override { cudaEventDestroy(m_event); }
    CudaEvent(const CudaEvent&) = delete;
    CudaEvent& operator=(const CudaEvent&) = delete;
    cudaEvent_t get() const { return m_event; }

private:
    cudaEvent_t m_event = nullptr;
};

// One lane of a card. Copies and kernels run in order behind the call; synchronize() waits for them.
class CudaStream final : public Stream {
public:
    CudaStream() { check(cudaStreamCreateWithFlags(&m_stream, cudaStreamNonBlocking), "cudaStreamCreate"); }
    ~CudaStream() override { cudaStreamDestroy(m_stream); }
    CudaStream(const CudaStream&) = delete;
    CudaStream& operator=(const CudaStream&) = delete;

    cudaStream_t get() const { return m_stream; }
    static cudaStream_t of(Stream* stream) { return static_cast<CudaStream*>(stream)->m_stream; }

    void copyToDevice(std::byte* to, const std::byte* from, std::size_t bytes) override {
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, m_stream), "copy to device");
    }
    void copyToHost(std::byte* to, const std::byte* from, std::size_t bytes) override {
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, m_stream), "copy to host");
    }
    void copyOnDevice(std::byte* to, const std::byte* from, std::size_t bytes) override {
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, m_stream), "copy on device");
    }
    void zero(std::byte* at, std::size_t bytes) override { check(cudaMemsetAsync(at, 0, bytes, m_stream), "zero"); }
    EventRef record() override {
        const std::shared_ptr<CudaEvent> event = unusedEvent();
        check(cudaEventRecord(event->get(), m_stream), "record event");
        return event;
    }
    void wait(const EventRef& event) override {
        if (event) check(cudaStreamWaitEvent(m_stream, static_cast<const CudaEvent&>(*event).get()), "wait for event");
    }
    // With a lookout: a kernel on the stream may wait for another rank, so whether it still has to is asked again and
    // again; it throws to end the wait, having seen to it that the kernel ends.
    void synchronize() override {
        if (!m_lookout) return check(cudaStreamSynchronize(m_stream), "synchronize");
        cudaError_t status = cudaSuccess;
        while ((status = cudaStreamQuery(m_stream)) == cudaErrorNotReady) {
            try {
                m_lookout(true);
            } catch (...) {
                cudaStreamSynchronize(m_stream);  // copies to memory that the caller gives up next
                throw;
            }
            std::this_thread::yield();
        }
        m_lookout(false);
        check(status, "synchronize");
    }
    // Called with true while synchronize() waits, and then with false. What it refers to outlives the stream's use.
    void setLookout(std::function<void(bool waits)> lookout) { m_lookout = std::move(lookout); }

private:
    // One that nobody refers to any more: after the first steps none is made.
    std::shared_ptr<CudaEvent> unusedEvent() {
        for (const auto& event : m_events)
            if (event.use_count() == 1) return event;
        return m_events.emplace_back(std::make_shared<CudaEvent>());
    }

    cudaStream_t m_stream = nullptr;
    std::vector<std::shared_ptr<CudaEvent>> m_events;
    std::function<void(bool)> m_lookout;
};

}  // namespace lockstep::cuda
