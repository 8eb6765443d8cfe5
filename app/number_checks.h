#pragma once
#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace lockstep {

// Checks of an option's number. CLI11's own name the largest double there is, in 309 digits.
inline CLI::Validator notNegative() {
    return {[](std::string& text) {
                double value = 0;
                if (!CLI::detail::lexical_cast(text, value)) return std::string();
                if (!std::isfinite(value)) return text + " is no finite number";
                return value < 0 ? text + " is below 0" : std::string();
            },
            ""};
}

// Of a whole number from `least` on. CLI11 takes the largest there is for one that is larger, and -1 for a seed; it
// says itself what is no number.
template <class Whole>
CLI::Validator wholeFrom(Whole least) {
    return {[least](std::string& text) {
                Whole value = least;
                const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
                const bool isNegative = text.starts_with('-');
                if (value < least || (isNegative && least == 0)) return text + " is below " + std::to_string(least);
                if (error != std::errc::result_out_of_range) return std::string();
                return text + (isNegative ? " is too small" : " is too large");
            },
            ""};
}
inline CLI::Validator atLeastOne() { return wholeFrom(std::int64_t{1}); }
inline CLI::Validator anyWhole() { return wholeFrom(std::numeric_limits<std::int64_t>::min()); }
inline CLI::Validator anySeed() { return wholeFrom(std::uint64_t{0}); }

}  // namespace lockstep
