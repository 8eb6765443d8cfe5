#include <sched.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "engine/spec/devices.h"

namespace lockstep {

namespace {

int coresOfAffinity() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    return static_cast<int>(std::thread::hardware_concurrency());  // more cores than the mask has bits
}

// cgroup v2: "max 100000" or "150000 100000" in cpu.max, of the process's own group or any above it.
std::optional<double> quotaOf(const std::filesystem::path& group) {
    std::ifstream file(group / "cpu.max");
    double quota = 0;
    double period = 0;
    if (!(file >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
    return quota / period;
}

std::optional<double> quotaOfVersion1() {
    std::ifstream quotaFile("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    std::ifstream periodFile("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    double quota = 0;
    double period = 0;
    if (!(quotaFile >> quota) || !(periodFile >> period) || quota <= 0 || period <= 0) return std::nullopt;
    return quota / period;
}

std::string ownGroup() {
    std::ifstream file("/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("0::/")) return line.substr(4);
    }
    return {};
}

}  // namespace

int permittedCores() {
    double cores = coresOfAffinity();
    const std::filesystem::path root = "/sys/fs/cgroup";
    for (std::filesystem::path group = ownGroup();; group = group.parent_path()) {
        if (const auto quota = quotaOf(root / group)) cores = std::min(cores, *quota);
        if (group.empty()) break;
    }
    if (const auto quota = quotaOfVersion1()) cores = std::min(cores, *quota);
    return std::max(1, static_cast<int>(std::floor(cores + 0.01)));
}

}  // namespace lockstep
