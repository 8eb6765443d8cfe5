#include "engine/train/rate_range.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace lockstep {

namespace {

std::string rangeEndText(double rate) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2g", rate);
    return text.data();
}

// Written so that what is no number is none.
bool isRate(double value) { return value >= RateRange::kLeast && value <= RateRange::kMost; }

Problem outside(const char* field, double value) {
    return {
        field, "rate.outside", {rangeEndText(value), rangeEndText(RateRange::kLeast), rangeEndText(RateRange::kMost)}};
}

}  // namespace

std::optional<Problem> problemOf(const RateRange& range) {
    if (!isRate(range.from)) return outside("--from", range.from);
    if (!isRate(range.to)) return outside("--to", range.to);
    if (range.from >= range.to)
        return Problem{"--to", "rate.range", {rangeEndText(range.from), rangeEndText(range.to)}};
    return std::nullopt;
}

double RateRange::at(std::int64_t update) const {
    return from * std::pow(to / from, static_cast<double>(update) / static_cast<double>(steps - 1));
}

void RateTest::add(double loss) {
    if (isOver()) return;
    const double memory = 1 - 1 / static_cast<double>(remembered());
    m_average = memory * m_average + (1 - memory) * loss;
    const auto count = std::ssize(m_points) + 1;
    const double smoothed = m_average / (1 - std::pow(memory, static_cast<double>(count)));
    m_points.push_back({m_range.at(count - 1), loss, smoothed});
    m_blewUp = !std::isfinite(smoothed) || smoothed > kBlownUp * m_best;
    if (!m_blewUp) m_best = std::min(m_best, smoothed);
}

std::int64_t RateTest::remembered() const { return std::max<std::int64_t>(1, m_range.steps / 10); }

std::optional<double> RateTest::blewUpAt() const {
    if (!m_blewUp) return std::nullopt;
    return m_points.back().rate;
}

const RatePoint* RateTest::lowest() const {
    const auto sound = m_points.end() - (m_blewUp ? 1 : 0);
    const auto found =
        std::min_element(m_points.begin(), sound, [](const auto& a, const auto& b) { return a.smoothed < b.smoothed; });
    return found == sound ? nullptr : &*found;
}

std::optional<double> RateTest::steepest() const {
    const RatePoint* low = lowest();
    if (!low) return std::nullopt;
    const auto first = static_cast<std::size_t>(remembered()), last = static_cast<std::size_t>(low - m_points.data());
    if (first >= last || low->smoothed > (1 - kLeastFall) * m_points[first].smoothed) return std::nullopt;
    std::size_t best = first;
    for (std::size_t at = first; at <= last; ++at) {
        if (slopeAt(at) < slopeAt(best)) best = at;
    }
    return m_points[best].rate;
}

// Over a few rates on either side, so that one lucky batch does not decide.
double RateTest::slopeAt(std::size_t at) const {
    const auto reach = static_cast<std::size_t>(std::max<std::int64_t>(1, m_range.steps / 50));
    const std::size_t sound = m_points.size() - (m_blewUp ? 1 : 0);
    const RatePoint &left = m_points[at - std::min(at, reach)], &right = m_points[std::min(at + reach, sound - 1)];
    return (right.smoothed - left.smoothed) / std::log(right.rate / left.rate);
}

}  // namespace lockstep
