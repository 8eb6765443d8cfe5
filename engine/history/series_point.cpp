#include "engine/history/series_point.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

SeriesStretch stretchOf(const SeriesPoint& point) {
    const bool counts = std::isfinite(point.value);
    const double value = counts ? point.value : kNone;
    return {point.step, counts ? 1 : 0, point.seconds, value, value, value};
}
const SeriesStretch& stretchOf(const SeriesStretch& stretch) { return stretch; }

void add(SeriesStretch& to, const SeriesStretch& later) {
    to.step = later.step;
    to.seconds = later.seconds;
    if (later.count == 0) return;
    to.low = to.count > 0 ? std::min(to.low, later.low) : later.low;
    to.high = to.count > 0 ? std::max(to.high, later.high) : later.high;
    const double share = static_cast<double>(later.count) / static_cast<double>(to.count + later.count);
    to.mean = to.count > 0 ? to.mean + share * (later.mean - to.mean) : later.mean;
    to.count += later.count;
}

template <class Part>
std::vector<SeriesStretch> joined(std::span<const Part> parts, std::size_t width) {
    const std::size_t each = std::max<std::size_t>(1, width);
    std::vector<SeriesStretch> out;
    out.reserve(parts.size() / each + 1);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i % each == 0) out.push_back(stretchOf(parts[i]));
        else add(out.back(), stretchOf(parts[i]));
    }
    return out;
}

}  // namespace

std::vector<SeriesStretch> inStretches(std::span<const SeriesPoint> points, std::size_t width) {
    return joined(points, width);
}

std::vector<SeriesStretch> inStretches(std::span<const SeriesStretch> stretches, std::size_t width) {
    return joined(stretches, width);
}

}  // namespace lockstep
