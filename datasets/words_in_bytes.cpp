#include "datasets/words_in_bytes.h"

#include <cstring>

namespace lockstep {

void WordWriter::number(std::uint64_t value) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof value);
}

void WordWriter::text(std::string_view value) {
    number(std::uint64_t{value.size()});
    out.insert(out.end(), value.begin(), value.end());
}

void WordWriter::problem(const Problem& value) {
    text(value.field);
    text(value.code);
    number(std::uint64_t{value.args.size()});
    for (const std::string& arg : value.args) text(arg);
}

std::uint64_t WordReader::number() {
    std::uint64_t value = 0;
    if (!need(sizeof value)) return 0;
    std::memcpy(&value, m_left.data(), sizeof value);
    m_left = m_left.subspan(sizeof value);
    return value;
}

std::string WordReader::text() {
    const std::uint64_t size = number();
    if (!need(size)) return {};
    std::string value(m_left.begin(), m_left.begin() + static_cast<std::ptrdiff_t>(size));
    m_left = m_left.subspan(size);
    return value;
}

Problem WordReader::problem() {
    Problem value{text(), text(), {}};
    const std::uint64_t args = number();
    for (std::uint64_t i = 0; i < args && good(); ++i) value.args.push_back(text());
    return value;
}

}  // namespace lockstep
