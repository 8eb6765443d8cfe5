#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep {

// What was measured at a step. Seconds: since the run started, pauses excluded.
struct SeriesPoint {
    std::int64_t step = 0;
    double seconds = 0, value = 0;
};

// Points of a series that lie behind each other, as one: where the last of them is, the least and the greatest of their
// finite values, and the mean of those; without one, not a number.
struct SeriesStretch {
    std::int64_t step = 0, count = 0;  // count: of the points that have a finite value
    double seconds = 0, low = 0, high = 0, mean = 0;
    bool operator==(const SeriesStretch&) const = default;
};

// So many points, or stretches, in one; the last may be shorter.
std::vector<SeriesStretch> inStretches(std::span<const SeriesPoint> points, std::size_t width);
std::vector<SeriesStretch> inStretches(std::span<const SeriesStretch> stretches, std::size_t width);

}  // namespace lockstep
