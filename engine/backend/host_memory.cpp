#include "engine/backend/host_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include "engine/core/error.h"

namespace lockstep {

namespace {

constexpr std::size_t kAlignment = 64, kHugePage = std::size_t{2} << 20;
constexpr std::size_t kMost = std::numeric_limits<std::ptrdiff_t>::max() - kHugePage;  // no object can be larger

// Huge pages where the system has some to give: kernels then lose a few percent less to address translation.
std::byte* allocateAligned(std::size_t bytes) {
    if (bytes > kMost) return nullptr;
    const std::size_t alignment = bytes < kHugePage ? kAlignment : kHugePage;
    const std::size_t rounded = std::max(alignment, (bytes + alignment - 1) / alignment * alignment);
    void* data = std::aligned_alloc(alignment, rounded);
    if (!data) return nullptr;
#ifdef MADV_HUGEPAGE
    if (alignment == kHugePage) madvise(data, rounded, MADV_HUGEPAGE);
#endif
    std::memset(data, 0, rounded);
    return static_cast<std::byte*>(data);
}

}  // namespace

Buffer allocateHost(std::size_t bytes) {
    std::byte* data = allocateAligned(bytes);
    if (!data) {
        throw EngineError(EngineError::Kind::OutOfMemory, "host memory",
                          "cannot allocate " + std::to_string(bytes) + " bytes");
    }
    return Buffer(data, bytes, [](std::byte* at) { std::free(at); });
}

// /proc/meminfo, in kB; within a container its own limit, of what programs and not cached files take.
std::size_t availableHostMemory() {
    std::ifstream system("/proc/meminfo");
    std::size_t available = 0;
    for (std::string name, line; system >> name; std::getline(system, line)) {
        std::size_t kilobytes = 0;
        if (name != "MemAvailable:" && name != "SwapFree:") continue;
        if (system >> kilobytes) available += kilobytes * 1024;
    }
    const auto limited = [](const char* file, std::size_t& bytes) {
        return static_cast<bool>(std::ifstream(std::string("/sys/fs/cgroup/memory.") + file) >> bytes);
    };
    std::size_t most = 0, taken = 0, cached = 0;
    if (!limited("max", most) || !limited("current", taken)) return available;
    std::ifstream kinds("/sys/fs/cgroup/memory.stat");
    for (std::string name; kinds >> name;) {
        std::size_t bytes = 0;
        if (kinds >> bytes && name == "inactive_file") cached = bytes;
    }
    taken -= std::min(taken, cached);
    return std::min(available, most - std::min(most, taken));
}

void HostStream::copyToDevice(std::byte* to, const std::byte* from, std::size_t bytes) {
    copyOnDevice(to, from, bytes);
}

void HostStream::copyToHost(std::byte* to, const std::byte* from, std::size_t bytes) { copyOnDevice(to, from, bytes); }

void HostStream::copyOnDevice(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes > 0 && to != from) std::memcpy(to, from, bytes);
}

void HostStream::zero(std::byte* at, std::size_t bytes) {
    if (bytes > 0) std::memset(at, 0, bytes);
}

}  // namespace lockstep
