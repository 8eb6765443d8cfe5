#pragma once
#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

namespace lockstep {

// Columns padded to their widest cell, two spaces between them, nothing at line ends.
class TextTable {
public:
    explicit TextTable(std::vector<std::string> head) { add(std::move(head)); }

    void add(std::vector<std::string> cells) {
        m_widths.resize(std::max(m_widths.size(), cells.size()));
        for (std::size_t i = 0; i < cells.size(); ++i) m_widths[i] = std::max(m_widths[i], cells[i].size());
        m_rows.push_back(std::move(cells));
    }

    void print(std::ostream& out) const {
        for (const auto& row : m_rows) {
            std::string line;
            for (std::size_t i = 0; i < row.size(); ++i) {
                line += row[i];
                line.append(m_widths[i] - row[i].size() + 2, ' ');
            }
            line.erase(line.find_last_not_of(' ') + 1);
            out << line << '\n';
        }
    }

private:
    std::vector<std::vector<std::string>> m_rows;
    std::vector<std::size_t> m_widths;
};

}  // namespace lockstep
