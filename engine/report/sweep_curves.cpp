#include <algorithm>
#include <cmath>
#include <map>

#include "engine/report/svg_parts.h"
#include "engine/report/sweep_chart.h"
#include "engine/spec/metric_text.h"

// The best cells over their epochs, in front of all others.

namespace lockstep::report {

namespace {

constexpr double kCurvesHeight = 260, kCurvesRight = 20, kCurveKeyRow = 18;
constexpr std::size_t kBestCurves = 10, kMostCurvePoints = 24, kManyOthers = 60;
constexpr std::size_t kSeriesColours = 6;
constexpr double kMargin = 0.04;   // of the axis
constexpr double kFirstSteps = 5;  // times as far behind the median as that is behind the best: the rest is of no news

// Of a cell's trials together, at each epoch to which all of them came.
struct CellCurve {
    const ReportedCell* cell = nullptr;
    std::vector<ChartPoint> mean = {};
    std::vector<double> deviation = {};  // at the same epochs; 0 of one trial
};

struct Pooled {
    double count = 0, sum = 0, squares = 0;
    double mean() const { return sum / count; }
    double deviation() const {
        return count > 1 ? std::sqrt(std::max(0.0, (squares - sum * sum / count) / (count - 1))) : 0;
    }
};

CellCurve curveOf(const ReportedCell& cell, const Metric& metric) {
    std::map<double, Pooled> epochs;
    double most = 0;
    for (const ReportedTrial& trial : cell.trials) {
        for (const ChartPoint& each : trial.curve) {
            const double value = onAxis(metric, each.y);
            if (!std::isfinite(value)) continue;
            Pooled& at = epochs[each.x];
            ++at.count, at.sum += value, at.squares += value * value;
            most = std::max(most, at.count);
        }
    }
    CellCurve curve{&cell};
    for (const auto& [epoch, at] : epochs) {
        if (at.count < most) continue;
        curve.mean.push_back({epoch, at.mean()});
        curve.deviation.push_back(at.deviation());
    }
    return curve;
}

// The part of a line from one point to the next that lies between two heights, and no more.
std::vector<ChartPoint> within(const std::vector<ChartPoint>& line, double low, double high) {
    std::vector<ChartPoint> out;
    const auto isIn = [&](const ChartPoint& each) { return each.y >= low && each.y <= high; };
    const auto crossing = [](const ChartPoint& a, const ChartPoint& b, double y) {
        return ChartPoint{a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y), y};
    };
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (i > 0 && isIn(line[i - 1]) != isIn(line[i])) {
            const ChartPoint& outer = isIn(line[i]) ? line[i - 1] : line[i];
            out.push_back(crossing(line[i - 1], line[i], outer.y < low ? low : high));
        }
        if (isIn(line[i])) out.push_back(line[i]);
        else out.push_back({line[i].x, std::nan("")});
    }
    return out;
}

std::vector<ChartPoint> thinned(const std::vector<ChartPoint>& line) {
    const std::size_t step = line.size() / kMostCurvePoints + 1;
    std::vector<ChartPoint> out;
    for (std::size_t i = 0; i < line.size(); i += step) out.push_back(line[i]);
    if (!line.empty() && !(out.back() == line.back())) out.push_back(line.back());
    return out;
}

class CurvesChart {
public:
    explicit CurvesChart(const SweepFacts& facts) : m_metric(*facts.objective) {
        for (const std::size_t each : facts.ranking) {
            CellCurve curve = curveOf(facts.cells[each], m_metric);
            if (curve.mean.empty()) continue;
            (m_best.size() < kBestCurves ? m_best : m_others).push_back(std::move(curve));
        }
        if (m_best.empty()) return;
        setScales();
    }

    bool hasLines() const {
        return std::ranges::any_of(m_best, [](const CellCurve& each) { return each.mean.size() > 1; });
    }
    std::size_t best() const { return m_best.size(); }
    std::size_t others() const { return m_others.size(); }

    std::string svg() const {
        std::string body = keys() + svg::axesOf(m_plot, "epochs", axisTitle(m_metric));
        for (const CellCurve& each : m_others)
            body += svg::polylines(m_plot, within(thinned(each.mean), m_plot.y.low, m_plot.y.high),
                                   m_others.size() > kManyOthers ? " class=\"lk-ln lk-thin lk-faint lk-rest\""
                                                                 : " class=\"lk-ln lk-thin lk-rest\"");
        for (std::size_t i = m_best.size(); i-- > 0;) body += band(i);
        for (std::size_t i = m_best.size(); i-- > 0;) body += line(i);
        return svg::picture(kWide, m_plot.top + m_plot.height + svg::kUnder,
                            std::string(m_metric.title) + " of the best cells", body, sweepStyle());
    }

private:
    double keyRows() const { return std::ceil(static_cast<double>(m_best.size()) / 4); }

    void setScales() {
        std::vector<double> values;
        double last = 1, first = m_best[0].mean[0].x;
        for (const CellCurve& curve : m_best) {
            for (std::size_t i = 0; i < curve.mean.size(); ++i) {
                for (const double sign : {-1, 1}) values.push_back(curve.mean[i].y + sign * curve.deviation[i]);
                first = std::min(first, curve.mean[i].x), last = std::max(last, curve.mean[i].x);
            }
        }
        for (const CellCurve& curve : m_others) last = std::max(last, curve.mean.back().x);
        m_plot.top = svg::kTitleHeight + kCurveKeyRow * keyRows() + 8, m_plot.height = kCurvesHeight;
        m_plot.width = kWide - svg::kLeft - kCurvesRight;
        m_plot.x = linearScale(first, last, 10, false);
        std::erase_if(m_plot.x.ticks, [](double tick) { return tick != std::round(tick); });
        m_plot.y = heightScale(std::move(values));
    }

    ChartScale heightScale(std::vector<double> values) const {
        std::ranges::sort(values);
        double low = values.front(), high = values.back();
        const double median = values[values.size() / 2];
        const bool isLess = m_metric.better == Better::Lower;
        if (isLess && spansDecades(low, high)) return logScale(low, high, 8);
        if (isLess) high = std::min(high, median + kFirstSteps * (median - low));
        else low = std::max(low, median - kFirstSteps * (high - median));
        if (!(high > low)) low = values.front(), high = values.back();
        return linearScale(low - kMargin * (high - low), high + kMargin * (high - low), 8, false);
    }

    std::string look(std::size_t at) const {
        return "lk-s" + std::to_string(at % kSeriesColours) + '"' +
               (at < kSeriesColours ? "" : " stroke-dasharray=\"6 3\"");
    }

    std::string band(std::size_t at) const {
        const CellCurve& curve = m_best[at];
        if (std::ranges::all_of(curve.deviation, [](double each) { return each == 0; })) return {};
        std::string points;
        const auto add = [&](std::size_t i, double sign) {
            if (curve.mean[i].y < m_plot.y.low || curve.mean[i].y > m_plot.y.high) return;
            const double y = std::clamp(curve.mean[i].y + sign * curve.deviation[i], m_plot.y.low, m_plot.y.high);
            points += svg::number(m_plot.atX(curve.mean[i].x)) + ',' + svg::number(m_plot.atY(y)) + ' ';
        };
        for (std::size_t i = 0; i < curve.mean.size(); ++i) add(i, 1);
        for (std::size_t i = curve.mean.size(); i-- > 0;) add(i, -1);
        if (points.empty()) return {};
        points.pop_back();
        return "<polygon class=\"lk-pt lk-s" + std::to_string(at % kSeriesColours) +
               "\" fill-opacity=\".13\" points=\"" + points + "\"/>\n";
    }

    std::string line(std::size_t at) const {
        const CellCurve& curve = m_best[at];
        if (curve.mean.size() == 1)
            return dot(m_plot.atX(curve.mean[0].x), m_plot.atY(curve.mean[0].y), 3,
                       "lk-pt lk-s" + std::to_string(at % kSeriesColours));
        return svg::polylines(m_plot, within(decimated(curve.mean, 400), m_plot.y.low, m_plot.y.high),
                              " class=\"lk-ln " + look(at));
    }

    std::string keys() const {
        std::string out;
        const double column = (kWide - svg::kLeft - kCurvesRight) / 4;
        for (std::size_t i = 0; i < m_best.size(); ++i) {
            const double x = svg::kLeft + column * static_cast<double>(i % 4);
            const double y = svg::kTitleHeight + kCurveKeyRow * static_cast<double>(i / 4) + 8;
            const ReportedCell& cell = *m_best[i].cell;
            const std::string value = cell.count > 0 ? ", " + metricText(m_metric, cell.mean) : "";
            out += "<path class=\"lk-ln " + look(i) + " d=\"M" + svg::number(x) + ' ' + svg::number(y) +
                   "h22\"/>\n<g>" + titleElement(wordsOf(cell.settings)) +
                   svg::textAt(x + 28, y + 4, svg::Anchor::Start, "cell " + std::to_string(cell.number) + value) +
                   "</g>\n";
        }
        return out;
    }

    const Metric& m_metric;
    std::vector<CellCurve> m_best, m_others;
    svg::Plot m_plot;
};

}  // namespace

Blocks sweepCurves(const SweepFacts& facts) {
    if (!facts.objective) return {};
    const CurvesChart chart(facts);
    if (!chart.hasLines()) return {};
    std::string words = "The mean over a cell's trials; the band is their standard deviation.";
    if (chart.others() > 0)
        words += " In grey " + counted(static_cast<std::int64_t>(chart.others()), "other cell", "other cells") +
                 ", as far as the axis reaches.";
    return {{Heading{"Curves of the best cells"}},
            {Figure{"curves", "The objective over epochs", chart.svg()}},
            {Paragraph{words}}};
}

}  // namespace lockstep::report
