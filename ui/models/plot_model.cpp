#include "ui/models/plot_model.h"

#include <QStringList>
#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep::ui {

namespace {

constexpr double kAir = 0.06;                      // of the height, above and below
constexpr double kDecades = 1e-4;                  // what a logarithmic axis shows at least, where values reach zero
constexpr std::size_t kMarkers = 9;                // along a curve of many points
constexpr std::size_t kFewPoints = 60;             // all of them are marked

PlotRange widened(PlotRange range, bool log) {
    if (log) {
        range.low = range.low > 0 ? range.low : std::max(range.high, 1e-12) * kDecades;
        const double factor = std::pow(std::max(range.high / range.low, 1.2), kAir);
        return {range.low / factor, range.high * factor};
    }
    const double size = range.size() > 0 ? range.size() : std::max(std::abs(range.high) * 0.1, 1e-9);
    return {range.low - kAir * size, range.high + kAir * size};
}

void keepPositive(std::vector<Curve::Point>& points) {
    std::erase_if(points, [](const Curve::Point& point) { return point.y <= 0; });
}

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
    return true;
}

double PlotModel::scaleOf(std::size_t index) const {
    const double perEpoch = m_series[index].stepsPerEpoch;
    return m_axis == PlotAxis::Epoch && perEpoch > 0 ? perEpoch : 1;
}

const Curve& PlotModel::lineOf(std::size_t index) {
    const auto& raw = m_series[index].curve;
    return isSmoothed(index) ? m_state[index].smooth.follow(raw, m_smoothing) : *raw;
}

PlotRange PlotModel::fitX() const {
    PlotRange all{std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest()};
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        const Curve& curve = *m_series[i].curve;
        if (hidden(i) || curve.empty()) continue;
        all.low = std::min(all.low, curve.x(curveAxis(), 0) / scaleOf(i));
        all.high = std::max(all.high, curve.x(curveAxis(), curve.size() - 1) / scaleOf(i));
    }
    if (all.low > all.high) return {0, 1};
    if (m_axis != PlotAxis::Step) all.low = std::min(0.0, all.low);
    return all.size() > 0 ? all : PlotRange{all.low - 0.5, all.high + 0.5};
}

PlotRange PlotModel::fitY(PlotRange x) {
    PlotRange all{1, 0};
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        if (hidden(i)) continue;
        const auto [low, high] = m_series[i].curve->extremes(curveAxis(), x.low * scaleOf(i), x.high * scaleOf(i));
        if (low > high || (m_log && high <= 0)) continue;
        all = all.low > all.high ? PlotRange{low, high} : PlotRange{std::min(all.low, low), std::max(all.high, high)};
    }
    return all.low > all.high ? PlotRange{m_log ? 0.1 : 0.0, 1} : widened(all, m_log);
}

PlotRange PlotModel::zoomed(PlotRange range, double center, double factor, bool log) {
    if (!log) return {center + (range.low - center) * factor, center + (range.high - center) * factor};
    return {center * std::pow(range.low / center, factor), center * std::pow(range.high / center, factor)};
}

std::vector<Curve::Point> PlotModel::sampled(const Curve& curve, std::size_t index, PlotRange x, int columns) const {
    const double scale = scaleOf(index);
    auto points = curve.sample(curveAxis(), x.low * scale, x.high * scale, columns);
    for (auto& point : points) point.x /= scale;
    if (m_log) keepPositive(points);
    return points;
}

PlotModel::Drawing PlotModel::draw(std::size_t index, PlotRange x, int columns) {
    Drawing out;
    if (hidden(index)) return out;
    out.line = sampled(lineOf(index), index, x, columns);
    if (isSmoothed(index)) out.ghost = sampled(*m_series[index].curve, index, x, columns);
    out.markers = marked(out.line);
    return out;
}

std::vector<PlotModel::Reading> PlotModel::readings(double x) {
    std::vector<Reading> out;
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        if (hidden(i)) continue;
        const Curve& line = lineOf(i);
        const std::size_t at = line.at(curveAxis(), x * scaleOf(i));
        if (at == line.size() || !std::isfinite(line.value(at))) continue;
        out.push_back({i, line.x(curveAxis(), at) / scaleOf(i), line.value(at), m_series[i].curve->value(at)});
    }
    return out;
}

std::optional<double> PlotModel::last(std::size_t index) const {
    const Curve& curve = *m_series[index].curve;
    for (std::size_t i = curve.size(); i > 0 && i + 16 > curve.size(); --i) {
        if (std::isfinite(curve.value(i - 1))) return curve.value(i - 1);
    }
    return std::nullopt;
}

QByteArray PlotModel::csv(PlotRange x) {
    const auto number = [](double value) {
        return std::isfinite(value) ? QByteArray::number(value, 'g', 12) : QByteArray();
    };
    QByteArray out = "series,step,seconds,value,smoothed\n";
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        if (hidden(i)) continue;
        const Curve& raw = *m_series[i].curve;
        const Curve& line = lineOf(i);
        const QByteArray name = '"' + m_series[i].name.toUtf8().replace('"', "\"\"") + '"';
        const auto [begin, end] = raw.within(curveAxis(), x.low * scaleOf(i), x.high * scaleOf(i));
        for (std::size_t at = begin; at < end; ++at) {
            out += name + ',' + number(raw.x(CurveAxis::Step, at)) + ',' + number(raw.x(CurveAxis::Seconds, at)) + ',' +
                   number(raw.value(at)) + ',' + number(line.value(at)) + '\n';
        }
    }
    return out;
}

QString PlotModel::summary(const std::function<QString(double)>& format) const {
    QStringList lines;
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        const Curve& curve = *m_series[i].curve;
        const auto [low, high] = curve.extremes(CurveAxis::Step, 0, std::numeric_limits<double>::max());
        if (hidden(i) || low > high) continue;
        lines << QString("%1: %2 points, from %3 to %4, lowest %5, highest %6")
                     .arg(m_series[i].name).arg(curve.size())
                     .arg(format(curve.value(0)), format(last(i).value_or(0)), format(low), format(high));
    }
    return lines.isEmpty() ? QString("No data yet") : lines.join("; ");
}

}  // namespace lockstep::ui
