#include "ui/timeline/timeline_viewport.h"

#include <algorithm>
#include <cmath>

namespace lockstep::ui {

namespace {

constexpr double kMargin = 0.02;  // of the data's length, beside a fitted view

}  // namespace

void TimelineViewport::setWidth(double pixels) { m_width = std::max(pixels, 1.0); }

void TimelineViewport::setData(TimeRange data) {
    m_data = data.length() < kShortest ? TimeRange{data.begin, data.begin + kShortest} : data;
    if (m_hold == Hold::End) setFollowing(true);
    if (m_hold == Hold::All) fit();
}

std::int64_t TimelineViewport::pixel() const {
    return std::max<std::int64_t>(std::llround(static_cast<double>(m_range.length()) / m_width), 1);
}

double TimelineViewport::xOf(std::int64_t time) const {
    return static_cast<double>(time - m_range.begin) * m_width / static_cast<double>(m_range.length());
}

std::int64_t TimelineViewport::timeAt(double x) const {
    return m_range.begin + std::llround(x * static_cast<double>(m_range.length()) / m_width);
}

// setData sees to it that the data is never shorter than kShortest.
double TimelineViewport::permitted(double length) const {
    return std::clamp(length, static_cast<double>(kShortest), static_cast<double>(m_data.length()) * (1 + 2 * kMargin));
}

// Times are reckoned from the data's beginning, where a double is exact to the nanosecond.
void TimelineViewport::place(double begin, double length) {
    const auto data = static_cast<double>(m_data.length());
    const double kept = permitted(length);
    m_range.begin = m_data.begin + std::llround(std::clamp(begin, -kept / 2, data - kept / 2));
    m_range.end = m_range.begin + std::llround(kept);
}

void TimelineViewport::show(TimeRange range) {
    m_hold = Hold::Nothing;
    place(static_cast<double>(range.begin - m_data.begin), static_cast<double>(range.length()));
}

void TimelineViewport::fit() {
    m_hold = Hold::All;
    const auto length = static_cast<double>(m_data.length());
    place(-kMargin * length, length * (1 + 2 * kMargin));
}

void TimelineViewport::zoomAt(double x, double factor) {
    m_hold = Hold::Nothing;
    const auto length = static_cast<double>(m_range.length());
    const double kept = permitted(length * factor);
    const double begin = static_cast<double>(m_range.begin - m_data.begin) + (length - kept) * x / m_width;
    place(begin, kept);
}

void TimelineViewport::panBy(double pixels) {
    m_hold = Hold::Nothing;
    const auto length = static_cast<double>(m_range.length());
    place(static_cast<double>(m_range.begin - m_data.begin) + pixels * length / m_width, length);
}

void TimelineViewport::goToBegin() {
    m_hold = Hold::Nothing;
    place(-kMargin * static_cast<double>(m_range.length()), static_cast<double>(m_range.length()));
}

void TimelineViewport::goToEnd() {
    setFollowing(true);
    m_hold = Hold::Nothing;
}

void TimelineViewport::setFollowing(bool on) {
    m_hold = on ? Hold::End : Hold::Nothing;
    const auto length = static_cast<double>(m_range.length());
    if (on) place(static_cast<double>(m_data.length()) - length * (1 - kMargin), length);
}

std::vector<std::int64_t> axisTicks(TimeRange range, std::int64_t origin, std::size_t most, std::int64_t& spacing) {
    std::vector<std::int64_t> ticks;
    spacing = 1;
    if (range.empty() || most < 2) return ticks;
    for (int factor = 0; range.length() / spacing + 1 > static_cast<std::int64_t>(most); factor = (factor + 1) % 3) {
        spacing = factor == 1 ? spacing / 2 * 5 : spacing * 2;
    }
    std::int64_t at = (range.begin - origin) / spacing * spacing + origin;
    if (at < range.begin) at += spacing;
    for (; at < range.end; at += spacing) ticks.push_back(at);
    return ticks;
}

}  // namespace lockstep::ui
