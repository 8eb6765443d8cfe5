#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace lockstep {

// A number from 1 in decimal digits, and nothing else; empty: the text is none, or more than an int64 holds.
inline std::optional<std::int64_t> wholeNumberIn(std::string_view digits) {
    std::int64_t number = 0;
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, number);
    return read.ec == std::errc() && read.ptr == end && number > 0 ? std::optional(number) : std::nullopt;
}

}  // namespace lockstep
