#include "app/csv_row.h"

#include <unistd.h>

#include "engine/core/printable.h"

namespace lockstep {

namespace {

std::string csvCell(const std::string& cell) {
    if (cell.find_first_of("\",\r\n") == cell.npos) return cell;
    std::string quoted = "\"";
    for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

}  // namespace

std::string csvRow(const std::vector<std::string>& cells) {
    static const bool isSeen = isatty(STDOUT_FILENO) != 0;  // names from outside do not command a terminal
    std::string row;
    for (std::size_t i = 0; i < cells.size(); ++i)
        row += (i > 0 ? "," : "") + csvCell(isSeen ? printable(cells[i]) : cells[i]);
    return row + '\n';
}

}  // namespace lockstep
