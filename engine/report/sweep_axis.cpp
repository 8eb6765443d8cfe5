#include "engine/report/sweep_axis.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/core/number_text.h"
#include "engine/search/importance.h"

namespace lockstep::report {

namespace {

constexpr int kSweepTicks = 6;

std::string shortNumber(double value) { return formatted("%.4g", value); }

std::string valueWords(const ParamValue& value) {
    const auto number = numberOf(value);
    return number ? shortNumber(*number) : text(value);
}

std::vector<ParamValue> valuesOf(const Dimension& dimension, std::int64_t count) {
    std::vector<ParamValue> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(dimension.value(i));
    return values;
}

}  // namespace

SweepAxis::SweepAxis(const Dimension& dimension) : m_dimension(dimension) {
    const auto count = dimension.count();
    if (const auto* choices = std::get_if<ChoiceOfValues>(&dimension.values)) takeValues(*choices);
    else if (!count || *count > static_cast<std::int64_t>(kMostParts))
        takeRange(std::get<NumberRange>(dimension.values));
    else takeValues(valuesOf(dimension, *count));
}

void SweepAxis::takeValues(std::vector<ParamValue> values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const bool areNumbers =
        std::ranges::all_of(values, [](const ParamValue& each) { return numberOf(each).has_value(); });
    if (areNumbers) std::ranges::stable_sort(order, {}, [&](std::size_t i) { return *numberOf(values[i]); });
    m_rank.resize(values.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        m_rank[order[i]] = i;
        m_parts.push_back(valueWords(values[order[i]]));
    }
}

void SweepAxis::takeRange(const NumberRange& range) {
    m_scale = range.isLog ? logScale(range.low, range.high, kSweepTicks)
                          : linearScale(range.low, range.high, kSweepTicks, false);
    const auto at = [&](std::size_t part) {
        const double share = static_cast<double>(part) / kMostParts;
        return range.isLog ? m_scale.low * std::pow(m_scale.high / m_scale.low, share)
                           : m_scale.low + share * (m_scale.high - m_scale.low);
    };
    for (std::size_t i = 0; i < kMostParts; ++i)
        m_parts.push_back(formatted("%.3g", at(i)) + " – " + formatted("%.3g", at(i + 1)));
}

double SweepAxis::placeOfValue(double index) const {
    const auto count = static_cast<double>(m_rank.size());
    return (static_cast<double>(m_rank[static_cast<std::size_t>(index)]) + 0.5) / count;
}

// What coordinateOf() says of a range that has few values is a number; of a choice it is which.
std::optional<double> SweepAxis::placeOf(const Cell& cell) const {
    const auto coordinate = coordinateOf(m_dimension, cell);
    if (!coordinate) return std::nullopt;
    if (!hasValues()) return std::clamp(m_scale.place(*coordinate), 0.0, 1.0);
    if (std::holds_alternative<ChoiceOfValues>(m_dimension.values)) return placeOfValue(*coordinate);
    std::size_t nearest = 0;
    const auto away = [&](std::size_t i) {
        return std::abs(*numberOf(m_dimension.value(static_cast<std::int64_t>(i))) - *coordinate);
    };
    for (std::size_t i = 1; i < m_rank.size(); ++i) nearest = away(i) < away(nearest) ? i : nearest;
    return placeOfValue(static_cast<double>(nearest));
}

std::vector<SweepAxis::Tick> SweepAxis::ticks(int most) const {
    std::vector<Tick> out;
    const auto count = static_cast<double>(m_parts.size());
    for (std::size_t i = 0; hasValues() && i < m_parts.size(); ++i)
        out.push_back({(static_cast<double>(i) + 0.5) / count, m_parts[i]});
    if (hasValues()) return out;
    const ChartScale scale =
        m_scale.isLog ? logScale(m_scale.low, m_scale.high, most) : linearScale(m_scale.low, m_scale.high, most, false);
    for (const double tick : scale.ticks) out.push_back({m_scale.place(tick), tickText(scale, tick)});
    return out;
}

std::optional<std::size_t> SweepAxis::partOf(const Cell& cell) const {
    const auto place = placeOf(cell);
    if (!place) return std::nullopt;
    const auto count = static_cast<double>(m_parts.size());
    return static_cast<std::size_t>(std::clamp(std::floor(*place * count), 0.0, count - 1));
}

}  // namespace lockstep::report
