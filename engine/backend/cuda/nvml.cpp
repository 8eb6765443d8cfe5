#include "engine/backend/cuda/nvml.h"

#include <dlfcn.h>

#include <array>

namespace lockstep::cuda {

namespace {

// By their values in nvml.h: NVML_SUCCESS, NVML_TEMPERATURE_GPU, NVML_P2P_CAPS_INDEX_NVLINK, NVML_P2P_STATUS_OK.
constexpr int kSuccess = 0, kOfTheChip = 0, kThroughNvlink = 2, kPeersReach = 0;

template <class Function>
bool find(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    return function != nullptr;
}

// nvmlGpuTopologyLevel_t: what two cards share on the way to each other.
std::string pathText(int level) {
    if (level == 0) return "the same board";
    if (level <= 20) return "PCIe switches";
    if (level <= 30) return "the PCIe host bridge";
    return level <= 40 ? "PCIe within a socket" : "PCIe across sockets";
}

}  // namespace

// It stays open and initialised until the process ends.
Nvml::Nvml(const std::string& file) {
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    int (*init)() = nullptr;
    m_isThere = find(library, "nvmlInit_v2", init) &&
                find(library, "nvmlDeviceGetHandleByPciBusId_v2", m_handleByBus) &&
                find(library, "nvmlSystemGetDriverVersion", m_driverVersion) &&
                find(library, "nvmlDeviceGetMemoryInfo", m_memoryInfo) &&
                find(library, "nvmlDeviceGetTemperature", m_temperature) &&
                find(library, "nvmlDeviceGetUtilizationRates", m_utilisation) &&
                find(library, "nvmlDeviceGetPowerUsage", m_power) &&
                find(library, "nvmlDeviceGetEnforcedPowerLimit", m_powerLimit) &&
                find(library, "nvmlDeviceGetP2PStatus", m_peerStatus) &&
                find(library, "nvmlDeviceGetTopologyCommonAncestor", m_commonAncestor) && init() == kSuccess;
}

std::vector<DeviceFacts> Nvml::of(const std::vector<std::string>& buses) const {
    std::vector<DeviceFacts> facts;
    std::vector<nvmlDevice_t> cards;
    for (const std::string& bus : buses) {
        nvmlDevice_t card = nullptr;
        if (!m_isThere || m_handleByBus(bus.c_str(), &card) != kSuccess) card = nullptr;
        facts.push_back(card ? sensorsOf(card) : DeviceFacts{});
        facts.back().bus = bus;
        cards.push_back(card);
    }
    for (std::size_t one = 0; one < cards.size(); ++one) {
        for (std::size_t other = 0; other < cards.size(); ++other) {
            if (one == other || !cards[one] || !cards[other]) continue;
            const std::string link = linkBetween(cards[one], cards[other]);
            if (!link.empty()) facts[one].links.emplace_back("cuda:" + std::to_string(other), link);
        }
    }
    return facts;
}

DeviceFacts Nvml::sensorsOf(nvmlDevice_t card) const {
    DeviceFacts facts;
    std::array<char, 96> driver{};
    Memory memory{};
    Utilisation share{};
    unsigned celsius = 0, milliwatts = 0;
    if (m_driverVersion(driver.data(), driver.size()) == kSuccess) facts.driver = driver.data();
    if (m_memoryInfo(card, &memory) == kSuccess) facts.freeBytes = memory.free;
    if (m_temperature(card, kOfTheChip, &celsius) == kSuccess) facts.celsius = static_cast<int>(celsius);
    if (m_utilisation(card, &share) == kSuccess) facts.busyPercent = static_cast<int>(share.gpu);
    if (m_power(card, &milliwatts) == kSuccess) facts.watts = static_cast<int>(milliwatts / 1000);
    if (m_powerLimit(card, &milliwatts) == kSuccess) facts.mostWatts = static_cast<int>(milliwatts / 1000);
    return facts;
}

std::string Nvml::linkBetween(nvmlDevice_t one, nvmlDevice_t other) const {
    int status = -1, level = 0;
    if (m_peerStatus(one, other, kThroughNvlink, &status) == kSuccess && status == kPeersReach) return "NVLink";
    return m_commonAncestor(one, other, &level) == kSuccess ? pathText(level) : std::string();
}

}  // namespace lockstep::cuda
