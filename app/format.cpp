#include "app/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "engine/core/utc_time.h"
#include "engine/core/utf8.h"

namespace lockstep {

namespace {

constexpr const char* kEllipsis = "…";

std::string_view firstCharacter(std::string_view text) {
    return text.substr(0, std::max<std::size_t>(utf8Character(text), 1));
}

}  // namespace

std::string timeText(const std::string& utc) {
    const auto moment = utcSeconds(utc);
    if (!moment) return utc;
    std::tm local = {};
    localtime_r(&*moment, &local);
    char buffer[32];
    return {buffer, std::strftime(buffer, sizeof buffer, "%Y-%m-%d %H:%M", &local)};
}

std::string plural(std::int64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", countText(count), noun, count == 1 ? "" : "s");
}

std::string samplesText(std::int64_t count) { return plural(count, "sample"); }

std::string sampleText(const TextSample& sample) {
    std::string out = "  ";
    for (const char c : "«" + sample.prompt + "»" + sample.text) {
        out += c;
        if (c == '\n') out += "  ";
    }
    return out + "\n";
}

std::string padded(std::string text, int columns) {
    text.append(static_cast<std::size_t>(std::max(columns - columnsOf(text), 0)), ' ');
    return text;
}

// What combines with a character that went goes with it.
std::string withoutBeginning(std::string_view text, int columns) {
    const int all = columnsOf(text);
    if (all <= columns) return std::string(text);
    for (int left = all; !text.empty();) {
        const auto first = firstCharacter(text);
        if (left < columns && columnsOf(first) > 0) break;
        left -= columnsOf(first);
        text.remove_prefix(first.size());
    }
    return kEllipsis + std::string(text);
}

std::string withoutEnd(std::string_view text, int columns) {
    if (columnsOf(text) <= columns) return std::string(text);
    std::string kept;
    for (int left = columns - 1; !text.empty();) {
        const auto first = firstCharacter(text);
        left -= columnsOf(first);
        if (left < 0) break;
        kept += first;
        text.remove_prefix(first.size());
    }
    return kept + kEllipsis;
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
            line += padded(row[i], widths[i] + 2);
        }
        out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return out;
}

}  // namespace lockstep
