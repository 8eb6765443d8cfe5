#include <cstdio>
#include <cstring>

#include "engine/backend/cuda/nvml.h"

// A machine with cards at 0000:00:00.0, 0000:01:00.0 and 0000:02:00.0. The first two are joined by NVLink, the third is
// in another socket, and is one that has no power sensor.

struct lockstep::cuda::nvmlDevice_st {
    int number;
};
using lockstep::cuda::nvmlDevice_t;

namespace {

constexpr int kNotFound = 6, kNotSupported = 3;
lockstep::cuda::nvmlDevice_st cards[] = {{0}, {1}, {2}};

unsigned long long bytesOf(nvmlDevice_t card) { return (10ull + static_cast<unsigned>(card->number)) << 30; }

}  // namespace

extern "C" {

int nvmlInit_v2() { return 0; }

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, nvmlDevice_t* card) {
    for (auto& each : cards) {
        char name[32];
        std::snprintf(name, sizeof name, "0000:%02d:00.0", each.number);
        if (std::strcmp(name, bus) == 0) return *card = &each, 0;
    }
    return kNotFound;
}

int nvmlSystemGetDriverVersion(char* version, unsigned bytes) {
    std::snprintf(version, bytes, "580.65.06");
    return 0;
}

int nvmlDeviceGetMemoryInfo(nvmlDevice_t card, unsigned long long* totalFreeUsed) {
    totalFreeUsed[0] = 2 * bytesOf(card);
    totalFreeUsed[1] = totalFreeUsed[2] = bytesOf(card);
    return 0;
}

int nvmlDeviceGetTemperature(nvmlDevice_t card, int sensor, unsigned* celsius) {
    *celsius = 40u + static_cast<unsigned>(card->number);
    return sensor == 0 ? 0 : kNotSupported;
}

int nvmlDeviceGetUtilizationRates(nvmlDevice_t, unsigned* gpuAndMemory) {
    gpuAndMemory[0] = 12;
    gpuAndMemory[1] = 34;
    return 0;
}

int nvmlDeviceGetPowerUsage(nvmlDevice_t card, unsigned* milliwatts) {
    *milliwatts = 95'400;
    return card->number == 2 ? kNotSupported : 0;
}

int nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t card, unsigned* milliwatts) {
    *milliwatts = 700'000;
    return card->number == 2 ? kNotSupported : 0;
}

int nvmlDeviceGetP2PStatus(nvmlDevice_t one, nvmlDevice_t other, int capability, int* status) {
    const bool areJoined = capability == 2 && one->number + other->number == 1;
    *status = areJoined ? 0 : 5;
    return 0;
}

int nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t, nvmlDevice_t, int* level) {
    *level = 50;
    return 0;
}

}  // extern "C"
