#include "datasets/csv.h"

#include <algorithm>
#include <limits>

#include "engine/core/result.h"

namespace lockstep {

bool CsvReader::next(std::vector<std::string>& cells) {
    passLineEnds(std::numeric_limits<std::size_t>::max());
    if (atEnd()) return false;
    m_recordLine = m_line;
    std::size_t count = 0;
    for (bool more = true; more; ++count) {
        if (count == cells.size()) cells.emplace_back();
        readCell(cells[count]);
        more = !atEnd() && m_text[m_at] == m_separator;
        m_at += more ? 1 : 0;
    }
    cells.resize(count);
    passLineEnds(1);
    if (m_width == 0) m_width = count;
    if (count != m_width) fail("csv.ragged-row", m_recordLine, {std::to_string(count), std::to_string(m_width)});
    return true;
}

std::size_t CsvReader::lineEnd() const {
    const std::string_view rest = m_text.substr(m_at);
    return rest.starts_with('\n') ? 1 : rest.starts_with("\r\n") ? 2 : 0;
}

void CsvReader::passLineEnds(std::size_t most) {
    for (std::size_t bytes; most > 0 && (bytes = lineEnd()) > 0; --most) {
        m_at += bytes;
        ++m_line;
    }
}

void CsvReader::readCell(std::string& out) {
    out.clear();
    if (!atEnd() && m_text[m_at] == '"') return readQuoted(out);
    const std::size_t begin = m_at;
    while (!atEnd() && m_text[m_at] != m_separator && lineEnd() == 0) {
        if (m_text[m_at] == '"' && m_separator == ',') fail("csv.stray-quote", m_line);
        ++m_at;
    }
    out = m_text.substr(begin, m_at - begin);
}

void CsvReader::readQuoted(std::string& out) {
    const std::int64_t line = m_line;
    for (bool more = true; more;) {
        const std::size_t begin = ++m_at, quote = m_text.find('"', begin);
        if (quote == m_text.npos) fail("csv.unterminated-quote", line);
        const std::string_view piece = m_text.substr(begin, quote - begin);
        out += piece;
        m_line += std::ranges::count(piece, '\n');
        m_at = quote + 1;
        more = !atEnd() && m_text[m_at] == '"';
        if (more) out += '"';
    }
    if (!atEnd() && m_text[m_at] != m_separator && lineEnd() == 0) fail("csv.text-after-quote", m_line);
}

void CsvReader::fail(const char* code, std::int64_t line, std::vector<std::string> more) const {
    more.insert(more.begin(), std::to_string(line));
    throw ProblemError({m_file, code, std::move(more)});
}

}  // namespace lockstep
