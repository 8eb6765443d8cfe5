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

// Times, texts and tables for the terminal.
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
