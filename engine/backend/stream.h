#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

namespace lockstep {

enum class Lane : std::uint8_t { Compute, Copy, Collective };

// A point in a stream's work. Cheap to copy; null for a backend whose work is done when a call returns.
class Event {
public:
    virtual ~Event() = default;
};
using EventRef = std::shared_ptr<Event>;

// One lane of a device: work put on it runs in order. Used by the device's thread alone. A host backend does the work
// before the call returns, so its events are null and its waits do nothing.
class Stream {
public:
    virtual ~Stream() = default;
    virtual void copyToDevice(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
    virtual void copyToHost(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
    virtual void copyOnDevice(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
    virtual void zero(std::byte* at, std::size_t bytes) = 0;
    virtual EventRef record() = 0;
    virtual void wait(const EventRef& event) = 0;
    virtual void synchronize() = 0;
};

}  // namespace lockstep
