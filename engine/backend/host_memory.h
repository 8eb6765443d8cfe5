#pragma once
#include "engine/backend/device.h"

namespace lockstep {

// What every device whose memory is the host's has in common.

Buffer allocateHost(std::size_t bytes);  // 64-byte aligned, zeroed; throws EngineError(OutOfMemory)
std::size_t availableHostMemory();       // bytes that programs could have now, swap included; 0: unknown

// Work is done before a call returns, so events are null and waits do nothing.
class HostStream final : public Stream {
public:
    void copyToDevice(std::byte* to, const std::byte* from, std::size_t bytes) override;
    void copyToHost(std::byte* to, const std::byte* from, std::size_t bytes) override;
    void copyOnDevice(std::byte* to, const std::byte* from, std::size_t bytes) override;
    void zero(std::byte* at, std::size_t bytes) override;
    EventRef record() override { return nullptr; }
    void wait(const EventRef&) override {}
    void synchronize() override {}
};

}  // namespace lockstep
