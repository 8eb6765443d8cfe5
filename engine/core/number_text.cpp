#include "engine/core/number_text.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace lockstep {

namespace {

std::string twoDigits(long long number) { return (number < 10 ? "0" : "") + std::to_string(number); }

}  // namespace

std::string formatted(const char* form, double value) {
    std::array<char, 400> text{};  // the longest double in %f has 309 digits before the dot
    std::snprintf(text.data(), text.size(), form, value);
    return text.data();
}

std::string durationText(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return "–";
    if (seconds < 9.95) return formatted("%.1f s", seconds);
    const long long whole = std::llround(seconds);
    if (whole < 60) return std::to_string(whole) + " s";
    if (whole < 3600) return std::to_string(whole / 60) + " min " + twoDigits(whole % 60) + " s";
    return std::to_string(whole / 3600) + " h " + twoDigits(whole / 60 % 60) + " min";
}

std::string percentText(double fraction) {
    return std::isfinite(fraction) ? formatted("%.2f %%", 100 * fraction) : "–";
}

std::string fixedText(double value, int digits) {
    return std::isfinite(value) ? formatted(("%." + std::to_string(digits) + "f").c_str(), value) : "–";
}

std::string countText(std::int64_t count) {
    std::string digits = std::to_string(count);
    const std::size_t first = count < 0 ? 1 : 0;
    for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ' ');
    return digits;
}

std::string rateText(double perSecond) {
    if (!std::isfinite(perSecond) || perSecond > 1e15) return "– samples/s";
    return (perSecond < 100 ? formatted("%.1f", perSecond) : countText(std::llround(perSecond))) + " samples/s";
}

}  // namespace lockstep
