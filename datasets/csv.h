#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// Comma-separated values by RFC 4180: quoted cells may hold commas, line ends and doubled quotes; lines end with LF or
// CRLF. Every record has as many cells as the first. Lines without anything are passed over. Tab-separated values are
// read alike, except that a quote within a cell stands for itself. No allocation is larger than 64 times the text, or
// than 128 bytes.
class CsvReader {
public:
    // `file` is named in problems; `text` outlives the reader. Separator: ',' or '\t'.
    CsvReader(std::string_view text, std::string file, char separator = ',')
        : m_text(text), m_file(std::move(file)), m_separator(separator) {}

    // False at the end. Throws ProblemError "csv.ragged-row", "csv.unterminated-quote", "csv.stray-quote",
    // "csv.text-after-quote", each with its line.
    bool next(std::vector<std::string>& cells);
    std::int64_t line() const { return m_recordLine; }  // where the record began, from 1

private:
    bool atEnd() const { return m_at == m_text.size(); }
    std::size_t lineEnd() const;  // bytes of the one that stands here; 0: none
    void passLineEnds(std::size_t most);
    void readCell(std::string& out);
    void readQuoted(std::string& out);
    [[noreturn]] void fail(const char* code, std::int64_t line, std::vector<std::string> more = {}) const;

    std::string_view m_text;
    std::string m_file;
    char m_separator;
    std::size_t m_at = 0, m_width = 0;
    std::int64_t m_line = 1, m_recordLine = 0;
};

}  // namespace lockstep
