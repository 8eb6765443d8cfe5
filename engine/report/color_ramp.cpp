#include "engine/report/color_ramp.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lockstep::report {

namespace {

// Cividis at equal distances, dark to light.
constexpr std::array<std::array<int, 3>, 9> kCividis{{{0, 32, 77},
                                                      {17, 53, 111},
                                                      {60, 77, 110},
                                                      {91, 101, 112},
                                                      {124, 123, 120},
                                                      {155, 147, 119},
                                                      {188, 174, 108},
                                                      {222, 201, 88},
                                                      {255, 234, 70}}};
// Where it can still be told from a light or a dark surface.
constexpr double kLightest = 0.86, kDarkest = 0.22;

}  // namespace

RampColor rampColor(double share, bool isDark) {
    const double part = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0;
    const double place = isDark ? kDarkest + part * (1 - kDarkest) : kLightest * (1 - part);
    const double at = place * static_cast<double>(kCividis.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(at), kCividis.size() - 2);
    const double rest = at - static_cast<double>(below);
    const auto mixed = [&](std::size_t channel) {
        return static_cast<int>(
            std::lround((1 - rest) * kCividis[below][channel] + rest * kCividis[below + 1][channel]));
    };
    return {mixed(0), mixed(1), mixed(2)};
}

}  // namespace lockstep::report
