#include "engine/search/importance.h"

#include <algorithm>
#include <cmath>

namespace lockstep {

namespace {

std::optional<double> finiteNumber(const ParamValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    const auto* number = std::get_if<double>(&value);
    return number && std::isfinite(*number) ? std::optional(*number) : std::nullopt;
}

// A whole number that was read from JSON is equal to the number that was suggested.
bool meansSame(const ParamValue& one, const ParamValue& other) {
    if (one == other) return true;
    const auto a = finiteNumber(one), b = finiteNumber(other);
    return a && b && *a == *b;
}

double wayFrom(double low, double high, double value) { return (value - low) / (high - low); }

}  // namespace

std::string_view text(ImportanceVerdict verdict) {
    switch (verdict) {
        case ImportanceVerdict::Sound: return "sound";
        case ImportanceVerdict::NothingVaried: return "nothing-varied";
        case ImportanceVerdict::TooFewTried: return "too-few-tried";
        case ImportanceVerdict::AllAlike: return "all-alike";
        case ImportanceVerdict::Unpredictable: return "unpredictable";
        case ImportanceVerdict::Chance: return "chance";
    }
    return {};
}

bool isVaried(const Dimension& dimension) { return dimension.count().value_or(2) > 1; }

std::optional<double> coordinateOf(const Dimension& dimension, const Cell& cell) {
    const auto setting = std::ranges::find(cell, dimension.path, &Setting::path);
    if (setting == cell.end()) return std::nullopt;
    if (const auto* choices = std::get_if<ChoiceOfValues>(&dimension.values)) {
        const auto found =
            std::ranges::find_if(*choices, [&](const ParamValue& each) { return meansSame(each, setting->value); });
        if (found == choices->end()) return std::nullopt;
        return static_cast<double>(found - choices->begin());
    }
    const auto number = finiteNumber(setting->value);
    if (!number) return std::nullopt;
    const auto& range = std::get<NumberRange>(dimension.values);
    return std::clamp(*number, range.low, range.high);
}

double unitPlace(const Dimension& dimension, double number) {
    const auto& range = std::get<NumberRange>(dimension.values);
    const auto count = dimension.count();
    const auto inside = [](double share) { return share > 0 ? std::min(share, 1.0) : 0.0; };
    if (count && range.isLog && range.points == 0)
        return inside(wayFrom(std::log(range.low - 0.5), std::log(range.high + 0.5), std::log(number)));
    const double steps = count ? static_cast<double>(*count - 1) : 1;
    double index = 0;  // among the values, where they can be counted
    if (range.step > 0) index = (number - range.low) / range.step;
    else if (range.isLog) index = steps * wayFrom(std::log(range.low), std::log(range.high), std::log(number));
    else index = steps * wayFrom(range.low, range.high, number);
    return inside(count ? (index + 0.5) / (steps + 1) : index);
}

}  // namespace lockstep
