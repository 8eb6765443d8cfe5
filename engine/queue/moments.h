#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

namespace lockstep {

// Mean and deviation of numbers that come one by one, by Welford's method.
struct Moments {
    std::int64_t count = 0;
    double mean = 0, squares = 0;
    void add(double value) {
        ++count;
        const double before = value - mean;
        mean += before / static_cast<double>(count);
        squares += before * (value - mean);
    }
    // Of the sample, n - 1; not a number of fewer than two.
    double deviation() const {
        return count > 1 ? std::sqrt(squares / static_cast<double>(count - 1))
                         : std::numeric_limits<double>::quiet_NaN();
    }
};

}  // namespace lockstep
