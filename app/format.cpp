#include "app/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

namespace lockstep {

std::string durationText(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return "–";
    if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
    const auto whole = std::llround(seconds);
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string percentText(double fraction) {
    return std::isfinite(fraction) ? fmt::format("{:.2f} %", 100 * fraction) : "–";
}

std::string metricText(const Metric& metric, double value) {
    if (metric.unit == MetricUnit::SamplesPerSecond) return rateText(value);
    if (metric.unit == MetricUnit::Seconds) return durationText(value);
    const bool inBits = metric.unit == MetricUnit::BitsPerByte;
    if (!std::isfinite(value)) return inBits ? "– bits per byte" : "–";
    switch (metric.unit) {
        case MetricUnit::Share: return percentText(value);
        case MetricUnit::Odds: return fmt::format("{:#.4g}", value);
        case MetricUnit::BitsPerByte: return fmt::format("{:.3f} bits per byte", value);
        default: return fmt::format("{:.4f}", value);
    }
}

std::string namedText(const Metric& metric, double value) {
    const bool saysItself = metric.unit == MetricUnit::BitsPerByte || metric.unit == MetricUnit::SamplesPerSecond;
    return (saysItself ? "" : std::string(metric.name) + ' ') + metricText(metric, value);
}

std::string countText(std::int64_t count) {
    std::string digits = fmt::format("{}", count);
    const std::size_t first = count < 0 ? 1 : 0;
    for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ' ');
    return digits;
}

std::string rateText(double perSecond) {
    if (!std::isfinite(perSecond) || perSecond > 1e15) return "– samples/s";
    return (perSecond < 100 ? fmt::format("{:.1f}", perSecond) : countText(std::llround(perSecond))) + " samples/s";
}

std::string timeText(const std::string& utc) {
    std::tm parts = {};
    if (!strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &parts)) return utc;
    const std::time_t moment = timegm(&parts);
    std::tm local = {};
    localtime_r(&moment, &local);
    char buffer[32];
    return {buffer, std::strftime(buffer, sizeof buffer, "%Y-%m-%d %H:%M", &local)};
}

std::string sampleText(const TextSample& sample) {
    std::string out = "  ";
    for (const char c : "«" + sample.prompt + "»" + sample.text) {
        out += c;
        if (c == '\n') out += "  ";
    }
    return out + "\n";
}

void Table::add(std::vector<std::string> row) {
    for (auto& cell : row) cell = printable(cell);
    m_rows.push_back(std::move(row));
}

std::string Table::text() const {
    std::vector<int> widths;
    for (const auto& row : m_rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columnsOf(row[i]));
    }
    std::string out;
    for (const auto& row : m_rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += row[i];
            line.append(static_cast<std::size_t>(widths[i] - columnsOf(row[i]) + 2), ' ');
        }
        out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return out;
}

}  // namespace lockstep
