#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/bytes_text.h"
#include "engine/core/number_text.h"
#include "engine/core/printable.h"
#include "engine/spec/metric_text.h"
#include "engine/spec/train_event.h"

namespace lockstep {

// Times, counts, texts and tables for the terminal.
std::string timeText(const std::string& utc);  // "2026-11-20T12:49:57.471Z" -> "2026-11-20 13:49", local time
std::string plural(std::int64_t count, std::string_view noun);  // "1 epoch", "10 000 epochs"
std::string samplesText(std::int64_t count);                    // "1 sample", "10 000 samples"
std::string sampleText(const TextSample& sample);               // indented lines, the prompt between « and »

inline constexpr std::string_view kVirtualDevices =
    "The devices are virtual: they share cores or cards, which shows the method, not its speed.";

// A printable() text for a cell of so many columns: filled up with spaces; where it is longer, with "…" in the place of
// its beginning, or of its end.
std::string padded(std::string text, int columns);
std::string withoutBeginning(std::string_view text, int columns);
std::string withoutEnd(std::string_view text, int columns);

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
