#include "engine/spec/shares.h"

#include <charconv>
#include <cmath>

#include "engine/core/param_schema.h"

namespace lockstep {

namespace {

constexpr double kMost = 1e6;

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(' ');
    return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

Result<std::vector<double>> parseShares(std::string_view text, std::size_t devices) {
    std::vector<double> shares;
    for (std::size_t at = 0; at <= text.size();) {
        const auto comma = std::min(text.find(',', at), text.size());
        const auto word = trimmed(text.substr(at, comma - at));
        double share = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), share);
        const bool isNumber = !word.empty() && error == std::errc() && end == word.data() + word.size();
        if (!isNumber || !(share > 0 && share <= kMost))
            return Problem{"shares", "spec.shares-syntax", {std::string(text), std::string(word)}};
        shares.push_back(share);
        at = comma + 1;
    }
    if (shares.size() != devices)
        return Problem{
            "shares", "spec.shares-count", {std::string(text), std::to_string(shares.size()), std::to_string(devices)}};
    return shares;
}

std::string textOfShares(const std::vector<double>& shares) {
    std::string out;
    for (const double share : shares) out += (out.empty() ? "" : ",") + text(ParamValue(share));
    return out;
}

}  // namespace lockstep
