#include <algorithm>
#include <cmath>
#include <map>

#include "engine/core/number_text.h"
#include "engine/report/card_sections.h"
#include "engine/report/svg_chart.h"

// What was measured along the way, a chart for what is told in one unit.

namespace lockstep::report {

namespace {

struct CurvePlan {
    std::string name, title, unit;
    double factor = 1;
    bool fromZero = false, isLinear = false;
};

// Loss beside loss and accuracy beside accuracy, of whatever split; of plain numbers each by itself.
CurvePlan curvePlan(const Metric& metric) {
    const std::string name(metric.name);
    const std::string title = capitalised(name);
    switch (metric.unit) {
        case MetricUnit::Nats: return {"loss", "Loss", "loss (nats)", 1, false};
        case MetricUnit::Share: return {"accuracy", "Accuracy", "accuracy (%)", 100, false, true};
        case MetricUnit::Odds: return {name, title, name, 1, false};
        case MetricUnit::BitsPerByte: return {"bits-per-byte", "Bits per byte", "bits per byte", 1, false};
        case MetricUnit::SamplesPerSecond: return {"throughput", "Throughput", "samples per second", 1, true};
        case MetricUnit::Seconds:
            return {"time", "Where the time of an update goes, mean over devices", "milliseconds", 1000, true};
        case MetricUnit::Number: break;
    }
    return {name, title, name, 1, false};
}

std::string fileName(std::string name) {
    for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '-';
    return name;
}

std::vector<ChartPoint> pointsOf(const TrialSeries& series, double factor) {
    std::vector<ChartPoint> points;
    for (const SeriesPoint& each : series.points)
        points.push_back({static_cast<double>(each.step), factor * each.value});
    return points;
}

// The mean over the ranks' series of one metric: at each step over those that have it.
ChartSeries meanOfRanks(const std::vector<const TrialSeries*>& ranks, double factor) {
    std::map<std::int64_t, std::pair<double, int>> sums;
    for (const TrialSeries* each : ranks) {
        for (const SeriesPoint& point : each->points) {
            auto& [sum, count] = sums[point.step];
            sum += point.value, ++count;
        }
    }
    ChartSeries mean{std::string(ranks.front()->metric->title), {}, true};
    for (const auto& [step, each] : sums)
        mean.points.push_back({static_cast<double>(step), factor * each.first / each.second});
    return mean;
}

struct PlannedChart {
    CurvePlan plan;
    std::vector<const TrialSeries*> series;
};

bool isCounted(const TrialSeries& series) {
    return std::ranges::any_of(series.points, [&](const SeriesPoint& each) {
        return std::isfinite(each.value) && !(series.metric->unit == MetricUnit::Share && each.value < 0);
    });
}

std::vector<PlannedChart> plannedCharts(const CardFacts& facts) {
    std::vector<PlannedChart> charts;
    for (const TrialSeries& each : facts.series) {
        if (!isCounted(each)) continue;
        const CurvePlan plan = curvePlan(*each.metric);
        auto found = std::ranges::find(charts, plan.name, [](const PlannedChart& chart) { return chart.plan.name; });
        if (found == charts.end()) found = charts.insert(charts.end(), {plan, {}});
        found->series.push_back(&each);
    }
    return charts;
}

std::vector<ChartSeries> chartSeries(const PlannedChart& chart) {
    std::vector<ChartSeries> all;
    for (std::size_t i = 0; i < chart.series.size();) {
        const Metric* metric = chart.series[i]->metric;
        std::size_t end = i + 1;
        while (metric->ranks && end < chart.series.size() && chart.series[end]->metric == metric) ++end;
        const std::vector<const TrialSeries*> ranks(chart.series.begin() + static_cast<std::ptrdiff_t>(i),
                                                    chart.series.begin() + static_cast<std::ptrdiff_t>(end));
        if (metric->ranks) all.push_back(meanOfRanks(ranks, chart.plan.factor));
        else all.push_back({std::string(metric->title), pointsOf(*ranks.front(), chart.plan.factor), metric->noisy});
        i = end;
    }
    return all;
}

}  // namespace

Blocks curvesSection(const CardFacts& facts) {
    Blocks blocks{{Heading{"Curves"}}};
    const std::int64_t epoch = facts.started ? facts.started->stepsPerEpoch : 0;
    const std::string xTitle = epoch > 1 ? "updates, " + countText(epoch) + " of them an epoch" : "updates";
    for (const PlannedChart& each : plannedCharts(facts)) {
        const LineChart chart{each.plan.title,   xTitle, each.plan.unit, chartSeries(each), each.plan.fromZero,
                              each.plan.isLinear};
        blocks.push_back({Figure{fileName(each.plan.name), each.plan.title, lineChartSvg(chart)}});
    }
    if (blocks.size() == 1) blocks.push_back({Paragraph{"No update was recorded."}});
    return blocks;
}

std::string capitalised(std::string name) {
    if (!name.empty()) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    return name;
}

}  // namespace lockstep::report
