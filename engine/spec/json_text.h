#pragma once
#include <nlohmann/json.hpp>

#include <string>

namespace lockstep {

// Compact JSON of a value for a message: at most `limit` bytes, invalid UTF-8 replaced.
inline std::string shortText(const nlohmann::json& value, std::size_t limit = 60) {
    std::string text = value.is_string() ? value.get<std::string>()
                                         : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (text.size() > limit) text = text.substr(0, limit) + "…";
    return text;
}

}  // namespace lockstep
