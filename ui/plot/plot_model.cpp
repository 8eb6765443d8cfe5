#include "ui/plot/plot_model.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep::ui {

namespace {

struct PlotModelText {
    Q_DECLARE_TR_FUNCTIONS(PlotModelText)
};

constexpr double kAir = 0.06;                    // of the height, above and below
constexpr double kDecades = 1e-4;                // what a logarithmic axis shows at least, where values reach zero
constexpr std::size_t kMarkers = 9;              // along a curve of many points
constexpr std::size_t kFewPoints = 60;           // all of them are marked
constexpr std::size_t kSmoothedAtOnce = 50'000;  // points of a curve in one drawing: a millisecond or less
constexpr std::size_t kLeftOut = 20;             // one of so many lines behind does not count for what is shown
constexpr double kFarBelow = 1e-30;              // on a logarithmic axis, for a band that reaches zero

PlotRange widened(PlotRange range, bool log) {
    if (log) {
        range.low = range.low > 0 ? range.low : std::max(range.high, 1e-12) * kDecades;
        const double factor = std::pow(std::max(range.high / range.low, 1.2), kAir);
        return {range.low / factor, range.high * factor};
    }
    const double size = range.size() > 0 ? range.size() : std::max(std::abs(range.high) * 0.1, 1e-9);
    return {range.low - kAir * size, range.high + kAir * size};
}

// Empty ones are those whose low is above their high.
PlotRange together(const PlotRange& a, const PlotRange& b) {
    if (a.low > a.high) return b;
    return b.low > b.high ? a : PlotRange{std::min(a.low, b.low), std::max(a.high, b.high)};
}

// The ends of the twentieth that reaches farthest do not count: a few of many would flatten all others.
PlotRange mostOf(const std::vector<PlotRange>& reaches) {
    std::vector<double> lows, highs;
    for (const PlotRange& each : reaches) lows.push_back(each.low), highs.push_back(each.high);
    if (lows.empty()) return {1, 0};
    const std::size_t rest = lows.size() / kLeftOut;
    std::ranges::sort(lows);
    std::ranges::sort(highs);
    return {lows[rest], std::max(lows[rest], highs[highs.size() - 1 - rest])};
}

// Of three or more, those that have diverged: they reach a thousand times as far as the middle one.
void leaveOutDiverged(std::vector<PlotRange>& reaches, std::vector<PlotRange>& behind) {
    constexpr std::size_t kFewest = 3;
    constexpr double kBeyond = 1000;
    const auto farthest = [](const PlotRange& each) { return std::max(std::abs(each.low), std::abs(each.high)); };
    std::vector<double> all;
    for (const auto* each : {&reaches, &behind}) std::ranges::transform(*each, std::back_inserter(all), farthest);
    if (all.size() < kFewest) return;
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) / 2);
    std::ranges::nth_element(all, middle);
    const double most = kBeyond * *middle;
    if (most <= 0) return;
    for (auto* each : {&reaches, &behind})
        std::erase_if(*each, [&](const PlotRange& reach) { return farthest(reach) > most; });
}

const Curve& measuredOf(const PlotSeries& series) { return series.measured ? *series.measured : *series.curve; }

void keepPositive(std::vector<Curve::Point>& points) {
    std::erase_if(points, [](const Curve::Point& point) { return point.y <= 0; });
}

std::optional<double> deviationAt(const PlotSeries& series, std::size_t i) {
    if (!series.band || i >= series.band->high->size()) return std::nullopt;
    const double half = (series.band->high->value(i) - series.band->low->value(i)) / 2;
    return half > 0 ? std::optional(half) : std::nullopt;  // of one alone there is none
}

QByteArray csvNumber(double value) { return std::isfinite(value) ? QByteArray::number(value, 'g', 12) : QByteArray(); }

QByteArray quotedName(const PlotSeries& series) { return '"' + series.name.toUtf8().replace('"', "\"\"") + '"'; }

std::vector<Curve::Point> marked(const std::vector<Curve::Point>& line) {
    if (line.size() <= kFewPoints) return line;
    std::vector<Curve::Point> out;
    for (std::size_t i = 0; i < kMarkers; ++i) out.push_back(line[(2 * i + 1) * line.size() / (2 * kMarkers)]);
    return out;
}

}  // namespace

void PlotModel::setSeries(std::vector<PlotSeries> series) {
    std::vector<State> state(series.size());
    for (std::size_t i = 0; i < series.size(); ++i) {
        for (std::size_t j = 0; j < m_series.size(); ++j) {
            if (m_series[j].name == series[i].name) state[i] = std::move(m_state[j]);
        }
    }
    m_series = std::move(series);
    m_state = std::move(state);
}

bool PlotModel::empty() const {
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        if (!hidden(i) && !m_series[i].curve->empty()) return false;
    }
    return std::ranges::all_of(m_behind, [](const PlotSeries& line) { return line.curve->empty(); });
}

CurveAxis PlotModel::curveAxis() const {
    if (m_axis == PlotAxis::DeviceTime) return CurveAxis::DeviceSeconds;
    return m_axis == PlotAxis::Time ? CurveAxis::Seconds : CurveAxis::Step;
}

double PlotModel::scaleOf(const PlotSeries& series) const {
    if (m_axis == PlotAxis::Samples && series.samplesPerStep > 0) return 1 / series.samplesPerStep;
    return m_axis == PlotAxis::Epoch && series.stepsPerEpoch > 0 ? series.stepsPerEpoch : 1;
}

double PlotModel::along(const PlotMoment& moment) const {
    if (curveAxis() != CurveAxis::Step) return moment.seconds;
    return m_series.empty() ? moment.step : moment.step / scaleOf(m_series.front());
}

const Curve& PlotModel::lineOf(std::size_t index, std::size_t points) {
    const auto& raw = m_series[index].curve;
    return isSmoothed(index) ? m_state[index].smooth.follow(raw, m_smoothing, points) : *raw;
}

bool PlotModel::smoothing() const {
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        if (!hidden(i) && isSmoothed(i) && !m_state[i].smooth.complete()) return true;
    }
    return false;
}

PlotRange PlotModel::fitX() const {
    PlotRange all{std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest()};
    const auto take = [&](const PlotSeries& series) {
        const Curve& curve = *series.curve;
        if (curve.empty()) return;
        all.low = std::min(all.low, curve.x(curveAxis(), 0) / scaleOf(series));
        all.high = std::max(all.high, curve.x(curveAxis(), curve.size() - 1) / scaleOf(series));
    };
    for (std::size_t i = 0; i < m_series.size(); ++i)
        if (!hidden(i)) take(m_series[i]);
    std::ranges::for_each(m_behind, take);
    if (all.low > all.high) return {0, 1};
    if (m_axis == PlotAxis::Epoch || m_axis == PlotAxis::Time) all.low = std::min(0.0, all.low);
    return all.size() > 0 ? all : PlotRange{all.low - 0.5, all.high + 0.5};
}

PlotRange PlotModel::fitY(PlotRange x) {
    std::vector<PlotRange> reaches;
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        if (hidden(i)) continue;
        const double scale = scaleOf(m_series[i]);
        PlotRange reach{1, 0};
        const auto take = [&](const Curve& curve) {
            const auto [low, high] = curve.extremes(curveAxis(), x.low * scale, x.high * scale);
            if (low <= high && !(m_log && high <= 0)) reach = together(reach, {low, high});
        };
        take(measuredOf(m_series[i]));
        if (m_series[i].band) take(*m_series[i].band->low), take(*m_series[i].band->high);
        if (reach.low <= reach.high) reaches.push_back(reach);
    }
    std::vector<PlotRange> behind = reachesBehind(x);
    if (!m_log) leaveOutDiverged(reaches, behind);
    PlotRange all = mostOf(behind);
    for (const PlotRange& each : reaches) all = together(all, each);
    return all.low > all.high ? PlotRange{m_log ? 0.1 : 0.0, 1} : widened(all, m_log);
}

std::vector<PlotRange> PlotModel::reachesBehind(PlotRange x) const {
    std::vector<PlotRange> reaches;
    for (const PlotSeries& line : m_behind) {
        const double scale = scaleOf(line);
        const auto [low, high] = measuredOf(line).extremes(curveAxis(), x.low * scale, x.high * scale);
        if (low <= high && !(m_log && high <= 0)) reaches.push_back({low, high});
    }
    return reaches;
}

PlotRange PlotModel::zoomed(PlotRange range, double center, double factor, bool log) {
    if (!log) return {center + (range.low - center) * factor, center + (range.high - center) * factor};
    return {center * std::pow(range.low / center, factor), center * std::pow(range.high / center, factor)};
}

std::vector<Curve::Point> PlotModel::sampled(const Curve& curve, double scale, const Curve::Columns& columns) const {
    auto points = curve.sample(curveAxis(), columns);
    for (auto& point : points) point.x /= scale;
    if (m_log) keepPositive(points);
    return points;
}

PlotModel::Drawn PlotModel::key(std::size_t index, PlotRange x, int columns) const {
    const PlotSeries& series = m_series[index];
    if (hidden(index)) return {.curve = nullptr, .hidden = true};
    const bool smoothed = isSmoothed(index);
    return {series.curve,
            series.curve->size(),
            x.low,
            x.high,
            smoothed ? m_smoothing : 0,
            scaleOf(series),
            columns,
            m_axis,
            m_log,
            false,
            !smoothed || m_state[index].smooth.complete()};
}

bool PlotModel::changed(std::size_t index, PlotRange x, int columns) const {
    const Drawn now = key(index, x, columns);
    return !now.complete || !(now == m_state[index].drawn);
}

PlotModel::Drawing PlotModel::draw(std::size_t index, PlotRange x, int columns, Sharpness sharpness) {
    Drawing out;
    if (!hidden(index)) {
        const PlotSeries& series = m_series[index];
        const double scale = scaleOf(series);
        const auto columnsOf = [&](const Curve& curve, Sharpness wanted) {
            return curve.columns(curveAxis(), x.low * scale, x.high * scale, columns, wanted);
        };
        const Curve& measured = measuredOf(series);
        const auto own = columnsOf(measured, sharpness);
        const Curve& line = isSmoothed(index) ? lineOf(index, kSmoothedAtOnce) : measured;
        out.line = sampled(line, scale, isSmoothed(index) ? columnsOf(line, sharpness) : own);
        if (isSmoothed(index)) out.ghost = sampled(measured, scale, own);
        if (sharpness == Sharpness::Full && !series.faint) out.markers = marked(out.line);
        // A coarse band stands in the columns of its line.
        const bool isShared = sharpness == Sharpness::Coarse && !series.measured;
        if (series.band)
            drawBand(out, *series.band, scale, isShared ? own : columnsOf(*series.band->low, Sharpness::Band));
        const auto end = series.endsOpen ? endOf(series) : std::nullopt;
        if (end && end->x >= x.low && end->x <= x.high) out.end = {*end};
    }
    m_state[index].drawn = key(index, x, columns);
    return out;
}

void PlotModel::drawBand(Drawing& out, const PlotBand& band, double scale, const Curve::Columns& columns) const {
    const auto edge = [&](const Curve& curve, Curve::Edge which) {
        auto points = curve.sampleEdge(which, curveAxis(), columns);
        for (auto& point : points) point = {point.x / scale, m_log ? std::max(point.y, kFarBelow) : point.y};
        return points;
    };
    out.low = edge(*band.low, Curve::Edge::Lower);
    out.high = edge(*band.high, Curve::Edge::Upper);
}

std::vector<Curve::Point> PlotModel::drawLine(const PlotSeries& line, PlotRange x, int columns) const {
    const Curve& curve = measuredOf(line);
    const double scale = scaleOf(line);
    return sampled(curve, scale, curve.columns(curveAxis(), x.low * scale, x.high * scale, columns, Sharpness::Band));
}

std::optional<Curve::Point> PlotModel::endOf(const PlotSeries& line) const {
    const Curve& curve = *line.curve;
    std::size_t end = curve.size();
    while (end > 0 && !std::isfinite(curve.value(end - 1))) --end;
    if (end == 0 || (m_log && curve.value(end - 1) <= 0)) return std::nullopt;
    return Curve::Point{curve.x(curveAxis(), end - 1) / scaleOf(line), curve.value(end - 1)};
}

std::optional<Curve::Point> PlotModel::onLine(const PlotSeries& line, double x) const {
    const Curve& curve = *line.curve;
    if (curve.empty()) return std::nullopt;
    const double scale = scaleOf(line), along = x * scale;
    const auto pointAt = [&](std::size_t i) { return Curve::Point{curve.x(curveAxis(), i) / scale, curve.value(i)}; };
    const std::size_t before = curve.at(curveAxis(), along);
    if (before == curve.size()) return pointAt(0);
    if (before + 1 == curve.size()) return pointAt(before);
    const Curve::Point from = pointAt(before), to = pointAt(before + 1);
    return Curve::Point{x, std::lerp(from.y, to.y, (x - from.x) / (to.x - from.x))};
}

std::vector<PlotModel::Reading> PlotModel::readings(double x) {
    std::vector<Reading> out;
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        if (hidden(i)) continue;
        const Curve& line = lineOf(i, 0);
        const double scale = scaleOf(m_series[i]);
        const std::size_t at = line.at(curveAxis(), x * scale);
        if (at == line.size() || !std::isfinite(line.value(at))) continue;
        out.push_back({i, line.x(curveAxis(), at) / scale, line.value(at), m_series[i].curve->value(at)});
        out.back().deviation = deviationAt(m_series[i], at);
    }
    return out;
}

std::vector<PlotModel::Reading> PlotModel::nearest(std::vector<Reading> readings, double y, std::size_t count) {
    if (readings.size() <= count) return readings;
    const auto nearer = [y](const Reading& a, const Reading& b) {
        return std::abs(a.value - y) < std::abs(b.value - y);
    };
    std::nth_element(readings.begin(), readings.begin() + static_cast<std::ptrdiff_t>(count), readings.end(), nearer);
    readings.resize(count);
    std::sort(readings.begin(), readings.end(), [](const Reading& a, const Reading& b) { return a.series < b.series; });
    return readings;
}

std::optional<PlotModel::Newest> PlotModel::last(std::size_t index) const {
    const Curve& curve = *m_series[index].curve;
    for (std::size_t i = curve.size(); i > 0 && i + 16 > curve.size(); --i) {
        if (std::isfinite(curve.value(i - 1))) return Newest{curve.value(i - 1), deviationAt(m_series[index], i - 1)};
    }
    return std::nullopt;
}

// A step and a time mean nothing there.
QByteArray PlotModel::csvOfLog(PlotRange x) const {
    QByteArray out = "series,x,value\n";
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        if (hidden(i)) continue;
        const Curve& curve = *m_series[i].curve;
        const auto [begin, end] = curve.within(CurveAxis::Step, x.low, x.high);
        for (std::size_t at = begin; at < end; ++at)
            out += quotedName(m_series[i]) + ',' + csvNumber(std::pow(10, curve.x(CurveAxis::Step, at))) + ',' +
                   csvNumber(curve.value(at)) + '\n';
    }
    return out;
}

QByteArray PlotModel::csv(PlotRange x) {
    if (m_axis == PlotAxis::Log) return csvOfLog(x);
    const auto& number = csvNumber;
    const bool bands = std::any_of(m_series.begin(), m_series.end(), [](const auto& series) { return series.band; });
    QByteArray out = bands ? "series,step,seconds,value,smoothed,low,high\n" : "series,step,seconds,value,smoothed\n";
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        if (hidden(i)) continue;
        const Curve& raw = *m_series[i].curve;
        const Curve& line = lineOf(i, SmoothedCurve::kAll);
        const QByteArray name = quotedName(m_series[i]);
        const double scale = scaleOf(m_series[i]);
        const auto [begin, end] = raw.within(curveAxis(), x.low * scale, x.high * scale);
        for (std::size_t at = begin; at < end; ++at) {
            out += name + ',' + number(raw.x(CurveAxis::Step, at)) + ',' + number(raw.x(CurveAxis::Seconds, at)) + ',' +
                   number(raw.value(at)) + ',' + number(line.value(at));
            if (const auto& band = m_series[i].band)
                out += ',' + number(band->low->value(at)) + ',' + number(band->high->value(at));
            else if (bands) out += ",,";
            out += '\n';
        }
    }
    return out;
}

QString PlotModel::summary(const std::function<QString(double)>& format) const {
    QStringList lines;
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        const Curve& curve = *m_series[i].curve;
        constexpr double kFar = std::numeric_limits<double>::max();
        const auto [low, high] = curve.extremes(CurveAxis::Step, -kFar, kFar);
        if (hidden(i) || low > high) continue;
        lines << PlotModelText::tr("%1: %2 points, from %3 to %4, lowest %5, highest %6")
                     .arg(m_series[i].name)
                     .arg(curve.size())
                     .arg(format(curve.value(0)), format(last(i).value_or(Newest{}).value), format(low), format(high));
    }
    return lines.isEmpty() ? PlotModelText::tr("No data yet") : lines.join("; ");
}

}  // namespace lockstep::ui
