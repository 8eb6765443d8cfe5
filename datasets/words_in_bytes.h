#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"

namespace lockstep {

// Numbers, and texts with their lengths before them, one behind the other in bytes: little-endian on every machine that
// we build for.
class WordWriter {
public:
    void number(std::uint64_t value);
    void number(std::int64_t value) { number(static_cast<std::uint64_t>(value)); }
    void text(std::string_view value);
    void problem(const Problem& value);

    std::vector<std::uint8_t> out;
};

// Of bytes that may be damaged: what is not there is 0 or empty, and good() says so.
class WordReader {
public:
    explicit WordReader(std::span<const std::uint8_t> bytes) : m_left(bytes) {}
    std::uint64_t number();
    std::int64_t signedNumber() { return static_cast<std::int64_t>(number()); }
    std::string text();
    Problem problem();

    bool good() const { return m_good; }
    bool atEnd() const { return m_good && m_left.empty(); }

private:
    bool need(std::uint64_t bytes) { return m_good = m_good && bytes <= m_left.size(); }

    std::span<const std::uint8_t> m_left;
    bool m_good = true;
};

}  // namespace lockstep
