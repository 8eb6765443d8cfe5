#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>

#include <nlohmann/json.hpp>

namespace lockstep {

// Why a text was not taken.
struct JsonFault {
    enum class Kind { Malformed, TooDeep, TooMany, DuplicateKey };
    Kind kind = Kind::Malformed;
    std::size_t byte = 0;   // Malformed: the first that does not fit, from 1
    std::string key, path;  // DuplicateKey: it and where it stands, "optimizer.momentum"
};
struct JsonLimits {
    std::size_t depth = 8;          // objects and arrays around a value
    std::size_t members = 100'000;  // of one object or array
};

// JSON that strangers may have written: no deeper and no wider than the limits, no key twice, no number beyond any
// type. Takes time in proportion to the text, and stops at the first fault. (nlohmann's own parser with a callback
// looks through all siblings after every nested value.) Throws nothing but std::bad_alloc.
std::variant<nlohmann::json, JsonFault> parseStrictly(std::string_view text, const JsonLimits& limits);

// A whole number from 2^63 on, which only an unsigned type has room for.
template <class AnyJson>
bool isBeyondInteger(const AnyJson& json) {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return json.is_number_unsigned() && json.template get<std::uint64_t>() > kMost;
}

}  // namespace lockstep
