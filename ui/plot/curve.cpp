#include "ui/plot/curve.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lockstep::ui {

namespace {

// The first index in [from, xs.size()] whose x is at least `limit`, sought around `guess`: columns of a picture mostly
// have as many points as their neighbours, and every look elsewhere misses the cache.
std::size_t firstFrom(const std::vector<double>& xs, std::size_t from, double limit, std::size_t guess) {
    const std::size_t size = xs.size();
    std::size_t low = std::clamp(guess, from, size), high = low, step = 1;
    while (low > from && xs[low - 1] >= limit) high = low - 1, low -= std::min(step, low - from), step *= 2;
    while (high < size && xs[high] < limit) low = high + 1, high += std::min(step, size - high), step *= 2;
    const auto at = [&](std::size_t i) { return xs.begin() + static_cast<std::ptrdiff_t>(i); };
    return static_cast<std::size_t>(std::lower_bound(at(low), at(high), limit) - xs.begin());
}

}  // namespace

void MinMaxPyramid::push(double value) {
    m_values.push_back(value);
    std::size_t complete = m_values.size();
    for (std::size_t level = 0; complete % kFanOut == 0; ++level) {
        complete /= kFanOut;
        if (level == m_levels.size()) m_levels.emplace_back();
        Extremes parent;
        for (std::size_t child = (complete - 1) * kFanOut; child < complete * kFanOut; ++child)
            parent.merge(node(level, child));
        m_levels[level].push_back(parent);
    }
}

// Level by level: what sticks out on the left and on the right of whole nodes, then the nodes themselves.
MinMaxPyramid::Extremes MinMaxPyramid::extremes(std::size_t begin, std::size_t end) const {
    Extremes left, right;
    for (std::size_t level = 0; begin < end; ++level) {
        const bool top = level == m_levels.size();
        const std::size_t firstWhole = top ? end : std::min(end, (begin + kFanOut - 1) / kFanOut * kFanOut);
        for (; begin < firstWhole; ++begin) left.merge(node(level, begin));
        const std::size_t lastWhole = std::max(begin, end / kFanOut * kFanOut);
        Extremes edge;
        for (std::size_t i = lastWhole; i < end; ++i) edge.merge(node(level, i));
        edge.merge(right);
        right = edge;
        begin /= kFanOut;
        end = lastWhole / kFanOut;
    }
    left.merge(right);
    return left;
}

void Curve::append(double step, double seconds, double value) {
    if (!empty()) {
        step = std::max(step, m_x->steps.back());
        seconds = std::max(seconds, m_x->seconds.back());
    }
    m_x->steps.push_back(step);
    m_x->seconds.push_back(seconds);
    m_pyramid.push(value);
}

void Curve::append(Place place, double value) {
    if (!empty()) place.deviceSeconds = std::max(place.deviceSeconds, m_x->deviceSeconds.back());
    m_x->deviceSeconds.push_back(place.deviceSeconds);
    append(place.step, place.seconds, value);
}

Curve Curve::alongside(const Curve& leader) {
    Curve curve;
    curve.m_x = leader.m_x;
    return curve;
}

// Those alongside may be shorter than the columns that they share.
std::pair<std::size_t, std::size_t> Curve::within(CurveAxis axis, double from, double to) const {
    const auto& xs = column(axis);
    const auto end = xs.begin() + static_cast<std::ptrdiff_t>(size());
    const auto first = std::lower_bound(xs.begin(), end, from), last = std::upper_bound(first, end, std::max(from, to));
    return {static_cast<std::size_t>(first - xs.begin()), static_cast<std::size_t>(last - xs.begin())};
}

std::pair<double, double> Curve::extremes(CurveAxis axis, double from, double to) const {
    const auto [begin, end] = within(axis, from, to);
    const auto found = m_pyramid.extremes(begin, end);
    if (found.none()) return {1, 0};
    return {found.low, found.high};
}

void Curve::addPoint(std::vector<Point>& out, CurveAxis axis, std::size_t i) const {
    if (std::isfinite(value(i))) out.push_back({x(axis, i), value(i)});
}

Curve::Columns Curve::columns(CurveAxis axis, double from, double to, int columns, Sharpness sharpness) const {
    Columns out;
    auto [begin, end] = within(axis, from, to);
    out.begin = begin, out.end = end;
    const auto most = static_cast<std::size_t>(std::max(columns, 1));
    if (end - begin <= 2 * most) return out;
    const auto& xs = column(axis);
    out.parts.reserve(most);
    std::size_t inColumn = (end - begin) / most;
    for (std::size_t c = 1; c <= most && begin < end; ++c) {
        const double limit = from + (to - from) * static_cast<double>(c) / static_cast<double>(most);
        std::size_t next = c == most ? end : std::min(firstFrom(xs, begin, limit, begin + inColumn), end);
        if (next < end) next -= next % MinMaxPyramid::wholeNodes(next - begin, static_cast<std::size_t>(sharpness));
        if (next <= begin) continue;
        out.parts.push_back({begin, next, xs[begin], xs[next - 1]});
        inColumn = next - begin;
        begin = next;
    }
    return out;
}

// `take` makes points of a column and its extremes.
template <class Take>
std::vector<Curve::Point> Curve::sampled(CurveAxis axis, const Columns& columns, Take&& take) const {
    std::vector<Point> out;
    const std::size_t end = std::min(columns.end, size());
    out.reserve((columns.parts.empty() ? end - std::min(end, columns.begin) : 2 * columns.parts.size()) + 2);
    if (columns.begin > 0) addPoint(out, axis, columns.begin - 1);
    for (const Columns::Part& part : columns.parts) {
        const auto found = m_pyramid.extremes(std::min(part.begin, end), std::min(part.end, end));
        if (!found.none()) take(out, part, found);
    }
    if (columns.parts.empty())
        for (std::size_t i = columns.begin; i < end; ++i) addPoint(out, axis, i);
    if (end < size()) addPoint(out, axis, end);
    return out;
}

std::vector<Curve::Point> Curve::sample(CurveAxis axis, const Columns& columns) const {
    return sampled(axis, columns,
                   [](std::vector<Point>& out, const Columns::Part& part, const MinMaxPyramid::Extremes& found) {
                       const bool falls = found.highAt < found.lowAt;
                       out.push_back({part.first, falls ? found.high : found.low});
                       if (found.lowAt != found.highAt) out.push_back({part.last, falls ? found.low : found.high});
                   });
}

std::vector<Curve::Point> Curve::sampleEdge(Edge edge, CurveAxis axis, const Columns& columns) const {
    return sampled(axis, columns,
                   [edge](std::vector<Point>& out, const Columns::Part& part, const MinMaxPyramid::Extremes& found) {
                       out.push_back({part.first, edge == Edge::Lower ? found.low : found.high});
                   });
}

std::size_t Curve::at(CurveAxis axis, double x) const {
    const std::size_t after = within(axis, x, x).second;
    return after == 0 ? size() : after - 1;
}

const Curve& SmoothedCurve::follow(const std::shared_ptr<const Curve>& raw, double weight, std::size_t points) {
    if (raw != m_raw) {
        m_raw = raw;
        m_shown = {Curve::alongside(*raw), weight};
        m_next.reset();
    } else if (weight == m_shown.weight) {
        m_next.reset();
    } else if (!m_next || weight != m_next->weight) {
        m_next = {Curve::alongside(*raw), weight};
    }
    Average& growing = m_next ? *m_next : m_shown;
    const std::size_t begin = growing.line.size(), end = begin + std::min(points, raw->size() - begin);
    for (std::size_t i = begin; i < end; ++i) growing.add(*raw, i);
    if (m_next && end == raw->size()) {
        m_shown = std::move(*m_next);
        m_next.reset();
    }
    return m_shown.line;
}

void SmoothedCurve::Average::add(const Curve& raw, std::size_t i) {
    const double value = raw.value(i), at = raw.x(CurveAxis::Step, i);
    if (std::isfinite(value)) {
        const double gap = mass > 0 ? at - step : 1;
        const double kept = gap == 1 ? weight : std::pow(weight, gap);
        sum = kept * sum + (1 - kept) * value;
        mass = kept * mass + (1 - kept);
        step = at;
    }
    line.appendValue(mass > 0 ? sum / mass : value);
}

}  // namespace lockstep::ui
