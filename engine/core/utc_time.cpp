#include "engine/core/utc_time.h"

#include <cstdio>

namespace lockstep {

std::string utcText(std::chrono::system_clock::time_point when) {
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(when.time_since_epoch()).count();
    const std::time_t seconds = milliseconds / 1000;
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char date[32], text[40];
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
    std::snprintf(text, sizeof text, "%s.%03dZ", date, static_cast<int>(milliseconds % 1000));
    return text;
}

std::optional<std::time_t> utcSeconds(const std::string& utc) {
    std::tm parts{};
    if (!strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &parts)) return std::nullopt;
    return timegm(&parts);
}

}  // namespace lockstep
