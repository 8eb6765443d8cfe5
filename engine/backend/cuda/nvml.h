#pragma once
#include <string>
#include <vector>

#include "engine/backend/device.h"

namespace lockstep::cuda {

using nvmlDevice_t = struct nvmlDevice_st*;

// NVIDIA's management library, which comes with the driver: sensors and how cards are connected. Where it is missing,
// or a card does not say something, that stays unknown; nothing fails for it. Any thread.
class Nvml {
public:
    explicit Nvml(const std::string& file);  // "libnvidia-ml.so.1"
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    // Of the cards at these PCI addresses, in order.
    std::vector<DeviceFacts> of(const std::vector<std::string>& buses) const;

private:
    struct Memory {
        unsigned long long total, free, used;
    };
    struct Utilisation {
        unsigned gpu, memory;
    };
    DeviceFacts sensorsOf(nvmlDevice_t card) const;
    std::string linkBetween(nvmlDevice_t one, nvmlDevice_t other) const;

    bool m_isThere = false;
    int (*m_handleByBus)(const char* bus, nvmlDevice_t* card) = nullptr;
    int (*m_driverVersion)(char* version, unsigned bytes) = nullptr;
    int (*m_memoryInfo)(nvmlDevice_t card, Memory* memory) = nullptr;
    int (*m_temperature)(nvmlDevice_t card, int sensor, unsigned* celsius) = nullptr;
    int (*m_utilisation)(nvmlDevice_t card, Utilisation* share) = nullptr;
    int (*m_power)(nvmlDevice_t card, unsigned* milliwatts) = nullptr;
    int (*m_powerLimit)(nvmlDevice_t card, unsigned* milliwatts) = nullptr;
    int (*m_peerStatus)(nvmlDevice_t one, nvmlDevice_t other, int capability, int* status) = nullptr;
    int (*m_commonAncestor)(nvmlDevice_t one, nvmlDevice_t other, int* level) = nullptr;
};

}  // namespace lockstep::cuda
