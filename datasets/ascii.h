#pragma once
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace lockstep {

inline std::string lowered(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

// Digits, and at least one.
inline bool isNumber(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

}  // namespace lockstep
