#include "engine/search/dimension.h"

#include <algorithm>
#include <cmath>

#include "engine/core/number_text.h"

namespace lockstep {

namespace {

constexpr double kMostValues = 1e9;   // of one dimension: beyond, nobody means them one by one
constexpr double kResolution = 1e-4;  // of the range that digits show
constexpr double kSlack = 1e-9;       // of a step: what rounding may lose

double scaled(const NumberRange& range, double share) {
    if (!range.isLog) return range.low + share * (range.high - range.low);
    return range.low * std::pow(range.high / range.low, share);
}

bool isWhole(const NumberRange& range) { return range.isWhole.value_or(false); }

ParamValue asValue(const NumberRange& range, double value) {
    value = std::clamp(value, range.low, range.high);
    if (isWhole(range)) return static_cast<std::int64_t>(std::llround(value));
    return value;
}

std::int64_t stepsIn(const NumberRange& range) {
    return static_cast<std::int64_t>(std::floor((range.high - range.low) / range.step + kSlack)) + 1;
}

// Each whole number has what lies within half of it.
double wholeAt(const NumberRange& range, double u) {
    if (!range.isLog) return range.low + std::floor(u * (range.high - range.low + 1));
    const double low = range.low - 0.5, high = range.high + 0.5;
    return std::round(low * std::pow(high / low, u));
}

double shareIn(const NumberRange& range, double value) {
    if (range.high == range.low) return 0.5;
    const double share = range.isLog ? std::log(value / range.low) / std::log(range.high / range.low)
                                     : (value - range.low) / (range.high - range.low);
    return std::clamp(share, 0.0, 1.0);
}

// The inverse of wholeAt().
UnitShare wholeShare(const NumberRange& range, double value) {
    const NumberRange wide{.low = range.low - 0.5, .high = range.high + 0.5, .isLog = range.isLog};
    return {shareIn(wide, value - 0.5), shareIn(wide, value), shareIn(wide, value + 0.5)};
}

UnitShare partOf(std::int64_t index, std::int64_t count) {
    const auto i = static_cast<double>(index), all = static_cast<double>(count);
    return {i / all, (i + 0.5) / all, (i + 1) / all};
}

// 1 and 1.0 are the same.
bool isSame(const ParamValue& one, const ParamValue& other) {
    const auto a = numberOf(one), b = numberOf(other);
    return a && b ? *a == *b : one == other;
}

std::int64_t nearestIndex(const NumberRange& range, double value, std::int64_t count) {
    const double steps =
        range.step > 0 ? (value - range.low) / range.step : shareIn(range, value) * static_cast<double>(count - 1);
    return std::clamp<std::int64_t>(std::llround(steps), 0, count - 1);
}

std::optional<Problem> problemOf(const std::string& path, const NumberRange& range) {
    const std::string low = formatted("%g", range.low), high = formatted("%g", range.high);
    if (!std::isfinite(range.low) || !std::isfinite(range.high))
        return Problem{path, "search.not-a-number", {low, high}};
    if (range.low > range.high) return Problem{path, "search.inverted", {low, high}};
    if (range.isLog && range.low <= 0) return Problem{path, "search.log-of-nothing", {low}};
    if (range.step < 0 || !std::isfinite(range.step) || range.points < 0)
        return Problem{path, "search.step", {formatted("%g", range.step), low, high}};
    if (range.step > 0 && range.points > 0) return Problem{path, "search.step-and-points", {}};
    if (range.step > 0 && range.isLog) return Problem{path, "search.step-of-a-log", {formatted("%g", range.step)}};
    const double parts[] = {range.low, range.high, range.step};
    if (isWhole(range) && std::ranges::any_of(parts, [](double each) { return std::trunc(each) != each; }))
        return Problem{path, "search.not-whole", {low, high}};
    const double count = range.step > 0 ? (range.high - range.low) / range.step : static_cast<double>(range.points);
    if (count > kMostValues) return Problem{path, "search.too-many-values", {formatted("%g", std::floor(count))}};
    return std::nullopt;
}

std::optional<Problem> problemOf(const std::string& path, const ChoiceOfValues& values) {
    if (values.empty()) return Problem{path, "search.no-values", {}};
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::find(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i), values[i]) !=
            values.begin() + static_cast<std::ptrdiff_t>(i))
            return Problem{path, "search.twice", {text(values[i])}};
        const auto* number = std::get_if<double>(&values[i]);
        if (number && !std::isfinite(*number)) return Problem{path, "search.not-a-number", {text(values[i]), ""}};
    }
    return std::nullopt;
}

}  // namespace

double readable(const NumberRange& range, double value) {
    const double unit = range.isLog ? std::abs(value) * kResolution : (range.high - range.low) * kResolution;
    if (!(unit > 0) || !std::isfinite(unit)) return value;
    const auto digits = static_cast<int>(std::ceil(-std::log10(unit)));
    const double power = std::pow(10.0, std::abs(digits));
    return digits > 0 ? std::round(value * power) / power : std::round(value / power) * power;
}

std::optional<std::int64_t> Dimension::count() const {
    if (const auto* choices = std::get_if<ChoiceOfValues>(&values)) return static_cast<std::int64_t>(choices->size());
    const auto& range = std::get<NumberRange>(values);
    if (range.low == range.high) return 1;
    if (range.step > 0) return stepsIn(range);
    const bool whole = isWhole(range);
    if (range.points > 0 && !whole) return range.points;
    if (!whole) return std::nullopt;
    const auto all = static_cast<std::int64_t>(range.high - range.low) + 1;
    return range.points > 0 ? std::min(range.points, all) : all;
}

ParamValue Dimension::value(std::int64_t index) const {
    if (const auto* choices = std::get_if<ChoiceOfValues>(&values)) return (*choices)[static_cast<std::size_t>(index)];
    const auto& range = std::get<NumberRange>(values);
    const std::int64_t all = *count();
    if (all == 1) return asValue(range, range.low);
    if (range.step > 0) {
        const double value = range.low + static_cast<double>(index) * range.step;
        return asValue(range,
                       isWhole(range) ? value : readable({.low = range.low, .high = range.low + range.step}, value));
    }
    if (range.points == 0) return asValue(range, range.low + static_cast<double>(index));
    if (index == all - 1) return asValue(range, range.high);
    return asValue(range, readable(range, scaled(range, static_cast<double>(index) / static_cast<double>(all - 1))));
}

ParamValue Dimension::valueAt(double u) const {
    const auto* range = std::get_if<NumberRange>(&values);
    if (range && isWhole(*range) && range->step == 0 && range->points == 0) return asValue(*range, wholeAt(*range, u));
    if (const auto all = count())
        return value(std::min(static_cast<std::int64_t>(u * static_cast<double>(*all)), *all - 1));
    return asValue(*range, readable(*range, scaled(*range, u)));
}

std::optional<double> numberOf(const ParamValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    if (const auto* number = std::get_if<double>(&value)) return *number;
    return std::nullopt;
}

std::int64_t UnitShare::placeAmong(std::int64_t count) const {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(middle * static_cast<double>(count)), 0, count - 1);
}

std::optional<UnitShare> Dimension::shareOf(const ParamValue& value) const {
    if (const auto* choices = std::get_if<ChoiceOfValues>(&values)) {
        const auto found = std::ranges::find_if(*choices, [&](const auto& each) { return isSame(each, value); });
        if (found == choices->end()) return std::nullopt;
        return partOf(found - choices->begin(), std::ssize(*choices));
    }
    const auto& range = std::get<NumberRange>(values);
    const auto number = numberOf(value);
    if (!number || !(*number >= range.low && *number <= range.high)) return std::nullopt;
    if (isWhole(range) && range.step == 0 && range.points == 0) return wholeShare(range, *number);
    if (const auto all = count()) return partOf(nearestIndex(range, *number, *all), *all);
    const double share = shareIn(range, *number);
    return UnitShare{share, share, share};
}

bool Dimension::isOrdered() const {
    const auto* choices = std::get_if<ChoiceOfValues>(&values);
    if (!choices) return true;
    const auto areNumbers = std::ranges::all_of(*choices, [](const auto& each) { return numberOf(each).has_value(); });
    const auto number = [](const ParamValue& each) { return numberOf(each).value_or(0); };
    return areNumbers &&
           (std::ranges::is_sorted(*choices, {}, number) || std::ranges::is_sorted(*choices, std::greater<>(), number));
}

std::optional<Problem> check(const Dimension& dimension) {
    return std::visit([&](const auto& values) { return problemOf(dimension.path, values); }, dimension.values);
}

}  // namespace lockstep
