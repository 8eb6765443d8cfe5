#include "ui/compare/parallel_axis.h"

#include <algorithm>
#include <cmath>

#include "engine/report/chart_scale.h"

namespace lockstep::ui {

namespace {

constexpr std::size_t kFewStops = 7;

// Without what lies so far beyond the rest that it would have the axis for itself: beyond three times the distance of
// the quartiles (Tukey, "Exploratory Data Analysis", 1977: the outer fences). Settings were chosen, and are all shown.
std::pair<double, double> usefulRange(const CompareAxis& axis) {
    constexpr double kFence = 3;
    constexpr std::size_t kFewest = 8;
    std::vector<double> values;
    std::ranges::copy_if(axis.values, std::back_inserter(values), [](double value) { return std::isfinite(value); });
    if (axis.isSetting || axis.isLog || values.size() < kFewest) return {axis.low, axis.high};
    const auto quartile = [&](std::size_t part) {
        const auto at = values.begin() + static_cast<std::ptrdiff_t>(part * (values.size() - 1) / 4);
        std::ranges::nth_element(values, at);
        return *at;
    };
    const double low = quartile(1), high = quartile(3), distance = kFence * (high - low);
    if (!(distance > 0)) return {axis.low, axis.high};
    return {std::max(axis.low, low - distance), std::min(axis.high, high + distance)};
}

bool isOfShares(const CompareAxis& axis) { return axis.metric && axis.metric->unit == MetricUnit::Share; }

}  // namespace

ParallelAxis::ParallelAxis(const CompareTable& table, std::size_t index, bool isFlipped)
    : m_axis(&table.axes[index]), m_index(index), m_isFlipped(isFlipped), m_counts(std::size(kAbsences) + 1) {
    std::tie(m_low, m_high) = usefulRange(*m_axis);
    m_places.reserve(m_axis->values.size());
    for (std::size_t row = 0; row < m_axis->values.size(); ++row) {
        const Absence absence = m_axis->absences[row];
        ++m_counts[static_cast<std::size_t>(absence)];
        m_places.push_back(
            static_cast<float>(absence == Absence::None ? place(m_axis->values[row]) : -static_cast<double>(absence)));
    }
}

double ParallelAxis::choicePlace(double value) const {
    return (value + 0.5) / static_cast<double>(m_axis->choices.size());
}

double ParallelAxis::place(double value) const {
    double place = 0.5;
    if (m_axis->isChoice()) place = choicePlace(value);
    else if (m_axis->isLog && m_high > m_low) place = std::log(value / m_low) / std::log(m_high / m_low);
    else if (m_high > m_low) place = (value - m_low) / (m_high - m_low);
    place = std::clamp(place, 0.0, 1.0);
    return m_isFlipped ? 1 - place : place;
}

std::vector<ParallelAxis::Tick> ParallelAxis::ticks(int most) const {
    std::vector<Tick> ticks;
    if (m_axis->isChoice()) {
        for (int i = 0; i < m_axis->choices.size(); ++i) ticks.push_back({place(i), m_axis->choices[i]});
        return ticks;
    }
    if (count(Absence::None) == 0) return ticks;
    if (!(m_high > m_low)) return {{place(m_low), m_axis->text(m_low)}};
    if (const auto few = stops(); m_axis->isSetting && few.size() <= kFewStops) {
        for (const Stop& stop : few) ticks.push_back({stop.place, m_axis->text(stop.value)});
        return ticks;
    }
    const double unit = isOfShares(*m_axis) ? 100 : m_axis->key == kMemory ? 1.0 / (1 << 20) : 1;
    const report::ChartScale scale = m_axis->isLog
                                         ? report::logScale(m_low, m_high, std::max(most, 3))
                                         : report::linearScale(unit * m_low, unit * m_high, std::max(most, 3), false);
    for (const double tick : scale.ticks) {
        QString text = QString::fromStdString(report::tickText(scale, tick));
        if (isOfShares(*m_axis)) text += QStringLiteral(" %");
        else if (!m_axis->isSetting && !m_axis->metric) text = m_axis->text(tick / unit);
        ticks.push_back({place(tick / unit), text});
    }
    return ticks;
}

std::vector<ParallelAxis::Stop> ParallelAxis::stops() const {
    std::vector<double> values;
    if (m_axis->isChoice()) {
        for (int i = 0; i < m_axis->choices.size(); ++i) values.push_back(i);
    } else {
        std::ranges::copy_if(m_axis->values, std::back_inserter(values),
                             [](double each) { return std::isfinite(each); });
        std::ranges::sort(values);
        values.erase(std::ranges::unique(values).begin(), values.end());
    }
    if (m_isFlipped) std::ranges::reverse(values);
    std::vector<Stop> stops;
    for (const double value : values) stops.push_back({place(value), value});
    return stops;
}

std::vector<AxisPiece> ParallelAxis::pieces(const AxisBrush& brush) const {
    std::vector<AxisPiece> pieces;
    const auto add = [&](double from, double to) {
        const auto [low, high] = std::minmax({place(from), place(to)});
        pieces.push_back({low, high});
    };
    if (!m_axis->isChoice()) {
        for (const auto& range : brush.ranges) add(range.low, range.high);
        return pieces;
    }
    const auto isIn = [&](int at) { return brush.choices.contains(choiceAt(at)); };
    for (int first = 0; first < m_axis->choices.size(); ++first) {
        if (!isIn(first)) continue;
        int last = first;
        while (last + 1 < m_axis->choices.size() && isIn(last + 1)) ++last;
        add(first, last);
        first = last;
    }
    return pieces;
}

QString ParallelAxis::shortText(std::size_t row, const QFontMetricsF& metrics, double width) const {
    QString text = m_axis->cell(row);
    const bool isNumber = m_axis->isSetting && !m_axis->isChoice() && m_axis->absences[row] == Absence::None;
    for (int digits = 3; isNumber && digits > 0 && metrics.horizontalAdvance(text) > width; --digits)
        text = QString::number(m_axis->values[row], 'g', digits);
    return text;
}

bool varies(const CompareAxis& axis) {
    for (std::size_t row = 1; row < axis.values.size(); ++row) {
        if (axis.absences[row] != axis.absences[0]) return true;
        if (axis.absences[row] == Absence::None && axis.values[row] != axis.values[0]) return true;
    }
    return false;
}

}  // namespace lockstep::ui
