#include "engine/report/chart_scale.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/core/number_text.h"

namespace lockstep::report {

namespace {

double power(int exponent) { return std::pow(10.0, exponent); }

// The smallest of 1, 2, 5, 10 times a power of ten that is no smaller than `least`.
double niceStep(double least) {
    const int exponent = static_cast<int>(std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power(exponent) >= least * (1 - 1e-9)) return factor * power(exponent);
    }
    return power(exponent + 1);
}

// k·10^e rather than a sum of steps, which would end in digits that nobody meant.
double multiple(double step, long long k) {
    const int exponent = static_cast<int>(std::floor(std::log10(step) + 1e-9));
    const double factor = std::round(step / power(exponent)) * static_cast<double>(k);
    return exponent >= 0 ? factor * power(exponent) : factor / power(-exponent);
}

// Room for numbers that are all the same.
void widen(double& low, double& high) {
    if (high > low && std::isfinite(high - low) && high - low > 1e-12 * std::max(std::abs(low), std::abs(high))) return;
    const double room = low == 0 ? 1 : std::abs(low) / 2;
    low -= room, high += room;
}

// Of the ticks by decades: the factors of a decade, the finest first that leaves no more than so many.
std::vector<double> decadeTicks(double low, double high, int most, std::span<const double> factors, int stride) {
    std::vector<double> ticks;
    const int first = static_cast<int>(std::floor(std::log10(low)));
    const int last = static_cast<int>(std::ceil(std::log10(high)));
    for (int exponent = first; exponent <= last; ++exponent) {
        if (exponent % stride != 0) continue;
        for (const double factor : factors) {
            const double tick = exponent >= 0 ? factor * power(exponent) : factor / power(-exponent);
            if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push_back(std::clamp(tick, low, high));
        }
    }
    if (std::cmp_greater(ticks.size(), most)) ticks.clear();
    return ticks;
}

bool isWanted(const std::vector<double>& ticks) { return ticks.size() >= 2; }

// Trailing zeros of a number with a dot are no news.
std::string trimmed(std::string text) {
    if (text.find('.') == text.npos) return text;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

// "1.5e-5", with as many digits as tell it from the next at such a step.
std::string exponentText(double value, double step) {
    const double digits = std::floor(std::log10(std::abs(value))) - std::floor(std::log10(step) + 1e-9);
    const std::string form = "%." + std::to_string(std::clamp(static_cast<int>(digits), 0, 15)) + "e";
    const std::string text = formatted(form.c_str(), value);
    const auto e = text.find('e');
    const std::string sign = text[e + 1] == '-' ? "-" : "";
    const auto exponent = text.find_first_not_of('0', e + 2);
    return trimmed(text.substr(0, e)) + 'e' + sign + (exponent == text.npos ? "0" : text.substr(exponent));
}

struct Unit {
    double from, unit;
    const char* letter;
};
constexpr Unit kUnits[] = {{1e12, 1e12, "T"}, {1e9, 1e9, "G"}, {1e6, 1e6, "M"}, {1e4, 1e3, "k"}};

// As many digits behind the dot as the step has, of a number told in units of `unit`.
std::string decimalText(double value, double step, double unit) {
    const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(step / unit) - 1e-9)), 0, 9);
    const std::string form = "%." + std::to_string(digits) + "f";
    return trimmed(formatted(form.c_str(), value / unit));
}

struct DrawnColumn {
    long number = -1;
    ChartPoint low, high;
    bool lowIsFirst = true;
};

void flush(const DrawnColumn& column, std::vector<ChartPoint>& out) {
    if (column.number < 0) return;
    const auto& [first, second] =
        column.lowIsFirst ? std::pair(column.low, column.high) : std::pair(column.high, column.low);
    out.push_back(first);
    if (!(second == first)) out.push_back(second);
}

}  // namespace

double ChartScale::place(double value) const {
    if (isLog) return (std::log10(std::max(value, 1e-300)) - std::log10(low)) / (std::log10(high) - std::log10(low));
    return (value - low) / (high - low);
}

ChartScale linearScale(double low, double high, int most, bool rounds) {
    widen(low, high);
    ChartScale scale{low, high, false, {}};
    for (double step = niceStep((high - low) / most);; step = niceStep(step * 1.01)) {
        const double begin = low / step, end = high / step;
        const auto first = static_cast<long long>(rounds ? std::floor(begin + 1e-9) : std::ceil(begin - 1e-9));
        const auto last = static_cast<long long>(rounds ? std::ceil(end - 1e-9) : std::floor(end + 1e-9));
        if (last - first + 1 > most) continue;
        for (auto k = first; k <= last; ++k) scale.ticks.push_back(multiple(step, k));
        break;
    }
    if (rounds) scale.low = std::min(low, scale.ticks.front()), scale.high = std::max(high, scale.ticks.back());
    for (double& tick : scale.ticks) tick = std::clamp(tick, scale.low, scale.high);
    return scale;
}

ChartScale logScale(double low, double high, int most) {
    if (!(high > low * (1 + 1e-9))) low /= 2, high *= 2;
    ChartScale scale{low, high, true, {}};
    constexpr double kFine[] = {1, 2, 5}, kWhole[] = {1};
    scale.ticks = decadeTicks(low, high, most, kFine, 1);
    for (int stride = 1; !isWanted(scale.ticks) && stride < 700; ++stride)
        scale.ticks = decadeTicks(low, high, most, kWhole, stride);
    if (!isWanted(scale.ticks)) scale.ticks = linearScale(low, high, most, false).ticks;  // within a decade
    return scale;
}

bool spansDecades(double low, double high) { return low > 0 && high / low >= 100; }

std::string tickText(const ChartScale& scale, double tick) {
    const double size = std::max(std::abs(scale.low), std::abs(scale.high));
    if (tick == 0) return "0";
    const double step = scale.isLog ? std::abs(tick) : scale.ticks.size() > 1 ? scale.ticks[1] - scale.ticks[0] : size;
    const double told = scale.isLog ? std::abs(tick) : size;
    if (told >= 1e15 || told < (scale.isLog ? 1e-3 : 1e-4) * (1 - 1e-9) || step < 1e-9) return exponentText(tick, step);
    for (const auto& [from, unit, letter] : kUnits) {
        if (told >= from) return decimalText(tick, step, unit) + letter;
    }
    return decimalText(tick, scale.isLog ? power(static_cast<int>(std::floor(std::log10(step)))) : step, 1);
}

std::vector<ChartPoint> decimated(std::span<const ChartPoint> points, int columns) {
    if (points.size() <= 2 * static_cast<std::size_t>(columns)) return {points.begin(), points.end()};
    const double begin = points.front().x, span = points.back().x - begin;
    std::vector<ChartPoint> out;
    DrawnColumn column;
    for (const ChartPoint& point : points) {
        const bool isNumber = std::isfinite(point.y);
        const double place = span > 0 ? (point.x - begin) / span * columns : 0;
        const long number = std::min(static_cast<long>(place), static_cast<long>(columns) - 1);
        if (!isNumber || number != column.number) {
            flush(column, out);
            column = isNumber ? DrawnColumn{number, point, point, true} : DrawnColumn{};
            const bool repeats = !out.empty() && !std::isfinite(out.back().y);
            if (!isNumber && !out.empty() && !repeats) out.push_back(point);
        } else if (point.y < column.low.y) {
            column.low = point, column.lowIsFirst = false;
        } else if (point.y > column.high.y) {
            column.high = point, column.lowIsFirst = true;
        }
    }
    flush(column, out);
    if (std::isfinite(points.front().y) && !(out.front() == points.front())) out.insert(out.begin(), points.front());
    if (std::isfinite(points.back().y) && !(out.back() == points.back())) out.push_back(points.back());
    return out;
}

std::vector<ChartPoint> smoothed(std::span<const ChartPoint> points, int reach) {
    std::vector<ChartPoint> out(points.begin(), points.end());
    std::vector<double> sums(points.size() + 1), counts(points.size() + 1);
    for (std::size_t i = 0; i < points.size(); ++i) {
        const bool isNumber = std::isfinite(points[i].y);
        sums[i + 1] = sums[i] + (isNumber ? points[i].y : 0);
        counts[i + 1] = counts[i] + (isNumber ? 1 : 0);
    }
    const auto side = static_cast<std::size_t>(std::max(reach, 0));
    for (std::size_t i = 0; i < points.size(); ++i) {
        const std::size_t from = i < side ? 0 : i - side, to = std::min(i + side + 1, points.size());
        if (std::isfinite(points[i].y)) out[i].y = (sums[to] - sums[from]) / (counts[to] - counts[from]);
    }
    return out;
}

}  // namespace lockstep::report
