#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// What is said of devices without opening one. Plain values.
namespace lockstep {

// What the driver and sensors say of a device just now; 0, empty: nobody knows.
struct DeviceFacts {
    std::size_t freeBytes = 0;  // of memory that a run could have
    std::string driver, bus;    // "580.65.06"; "0000:1B:00.0"
    std::optional<int> celsius, busyPercent, watts, mostWatts;
    std::vector<std::pair<std::string, std::string>> links;  // to other devices: "cuda:1", "NVLink"
    std::string libraries = {};                              // that compute on it, with their versions: "oneDNN 2.6.3"
};

// A device that exists: what the device list shows.
struct DeviceInfo {
    std::string id;       // "cpu", "cuda:1"
    std::string name;     // "Intel Xeon, 2 cores", "NVIDIA H200"
    std::string backend;  // "cpu", "cuda", "reference", "null"
    std::size_t memoryBytes = 0;
    int cores = 0;  // CPU kinds: permitted cores
    DeviceFacts facts{};
};

// One device as a run uses it; one rank each.
struct DeviceChoice {
    std::string backend;     // "cpu"
    int index = 0;           // CPU kinds: 0…N-1; CUDA: the ordinal
    int threads = 1;         // kernel threads of a CPU device
    bool isVirtual = false;  // shares its core or card with another device of the run
    std::string id;          // "cpu:0", "cuda:1": unique within the run unless cards repeat
    bool operator==(const DeviceChoice&) const = default;
};

}  // namespace lockstep
