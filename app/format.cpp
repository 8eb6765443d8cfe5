#include "app/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "engine/core/utc_time.h"

namespace lockstep {

std::string timeText(const std::string& utc) {
    const auto moment = utcSeconds(utc);
    if (!moment) return utc;
    std::tm local = {};
    localtime_r(&*moment, &local);
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
