#include "app/curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep {

namespace {

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();

// Mean of the numbers among values[from, to).
double mean(const std::vector<double>& values, std::size_t from, std::size_t to) {
    double sum = 0;
    int count = 0;
    for (std::size_t i = from; i < to; ++i) {
        if (std::isfinite(values[i])) sum += values[i], ++count;
    }
    return count > 0 ? sum / count : kGap;
}

std::vector<double> columnsOfCurve(const std::vector<double>& values, std::size_t width) {
    const auto count = std::min(width, values.size());
    std::vector<double> out;
    for (std::size_t i = 0; i < count; ++i)
        out.push_back(mean(values, i * values.size() / count, (i + 1) * values.size() / count));
    return out;
}

}  // namespace

std::string curveText(const std::vector<double>& values, int width, int height) {
    const auto columns = columnsOfCurve(values, static_cast<std::size_t>(width));
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const double value : columns) {
        if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
    }
    if (!(low <= high)) return {};
    const double span = high > low ? high - low : 1;
    std::string out;
    for (int row = height - 1; row >= 0; --row) {
        std::string line;
        for (const double value : columns) {
            const bool here = std::isfinite(value) && std::lround((value - low) / span * (height - 1)) == row;
            line += here ? "•" : " ";
        }
        const auto label = row == height - 1 ? fmt::format("{:9.4g}", high)
                           : row == 0        ? fmt::format("{:9.4g}", low)
                                             : std::string(9, ' ');
        out += label + " |" + line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return out;
}

}  // namespace lockstep
