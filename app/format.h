#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/printable.h"
#include "engine/core/bytes_text.h"
#include "engine/spec/metrics.h"
#include "engine/spec/train_event.h"

namespace lockstep {

// Numbers and tables for the terminal.
std::string durationText(double seconds);                    // "1 min 12 s"
std::string percentText(double fraction);                    // "91.83 %"; "–" when not a number
std::string metricText(const Metric& metric, double value);  // "91.83 %", "7.413"; "–" when not a number
std::string namedText(const Metric& metric, double value);   // "accuracy 91.83 %", "2.890 bits per byte"
std::string countText(std::int64_t count);                   // "11 173 962"
std::string rateText(double perSecond);                      // "5 120 samples/s"
std::string timeText(const std::string& utc);      // "2026-11-20T12:49:57.471Z" -> "2026-11-20 13:49", local time
std::string sampleText(const TextSample& sample);  // indented lines, the prompt between « and »

// Columns as wide as their widest cell, two spaces between them. Cells are made printable().
class Table {
public:
    explicit Table(std::vector<std::string> header) : m_rows{std::move(header)} {}
    void add(std::vector<std::string> row);
    std::string text() const;

private:
    std::vector<std::vector<std::string>> m_rows;
};

}  // namespace lockstep
