#pragma once
#include <CLI/CLI.hpp>
#include <cmath>

namespace lockstep {

// A check of an option's number. CLI11's own names the largest double there is, in 309 digits.
inline CLI::Validator notNegative() {
    return {[](std::string& text) {
                double value = 0;
                if (!CLI::detail::lexical_cast(text, value)) return std::string();
                if (!std::isfinite(value)) return text + " is no finite number";
                return value < 0 ? text + " is below 0" : std::string();
            },
            ""};
}

}  // namespace lockstep
