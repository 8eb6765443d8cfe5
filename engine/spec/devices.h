#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/device_info.h"
#include "engine/core/result.h"

namespace lockstep {

// "cpu:2" (two devices that share the permitted cores), "cpu:2x1" (one core each), "reference:3", "null:4", "cuda:0,1",
// "cuda:all", "cuda:0,0", "auto". More devices than cores or cards are virtual. Problems: "devices.syntax",
// "devices.unknown-backend", "devices.unavailable" (with the backend's reason), "devices.no-such-card",
// "devices.too-many", "devices.too-many-threads" (of each device more than there are cores). `available` is what the
// environment's backends offer; `reasons` says why others are missing (backend name, words).
struct DeviceRequest {
    std::vector<DeviceInfo> available;
    std::vector<std::pair<std::string, Problem>> missing;
};
inline constexpr std::string_view kAutomaticDevices = "auto";
Result<std::vector<DeviceChoice>> parseDevices(std::string_view text, const DeviceRequest& request);

// What "auto" stands for: "cuda:all" where there are cards, or "cpu:1". Any other text is itself.
std::string namedDevices(std::string_view text, const DeviceRequest& request);

// The same kind of devices, `count` of them: "cpu:2x1" -> "cpu:3x1"; of cards the first ones, or those and more that
// are there. Problems: of parseDevices(), "devices.no-more-cards".
Result<std::string> withDeviceCount(std::string_view text, int count, const DeviceRequest& request);

int permittedCores();  // of this process: affinity mask and cgroup quota

}  // namespace lockstep
