#pragma once
#include <map>
#include <mutex>
#include <thread>

#include "engine/core/error.h"

namespace lockstep::cuda {

class CudaDevice;

// Which device a thread has opened: what a group's endpoint, made before there were devices, finds its streams by. Any
// thread.
class RankDevices {
public:
    void add(CudaDevice& device) {
        const std::lock_guard lock(m_mutex);
        m_devices[std::this_thread::get_id()] = &device;
    }
    void remove(const CudaDevice& device) {
        const std::lock_guard lock(m_mutex);
        std::erase_if(m_devices, [&](const auto& entry) { return entry.second == &device; });
    }
    CudaDevice& ofThisThread() const {
        const std::lock_guard lock(m_mutex);
        const auto found = m_devices.find(std::this_thread::get_id());
        if (found == m_devices.end())
            throw EngineError(EngineError::Kind::Internal, "cuda", "a group was used on a thread without a device");
        return *found->second;
    }

private:
    mutable std::mutex m_mutex;
    std::map<std::thread::id, CudaDevice*> m_devices;
};

}  // namespace lockstep::cuda
