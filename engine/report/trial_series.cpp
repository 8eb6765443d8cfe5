#include "engine/report/trial_series.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

namespace lockstep {

namespace {

const Metric* metricOf(const std::string& key) { return findMetric(key.substr(0, key.find('.'))); }

std::string numberCell(double value) {
    if (!std::isfinite(value)) return {};
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::string tagOf(const TrialSeries& series) {
    const Metric& metric = *series.metric;
    if (const auto dot = series.key.find('.'); dot != series.key.npos)
        return std::string(metric.key) + "/rank " + series.key.substr(dot + 1);
    const char* group = metric.split == Split::Test         ? "test/"
                        : metric.split == Split::Validation ? "validation/"
                        : metric.evaluated                  ? "epoch/"
                                                            : "train/";
    return group + std::string(metric.name);
}

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();  // behind every step

// What is left of a series while all of them are walked through side by side.
class Rest {
public:
    explicit Rest(const TrialSeries& series) : m_points(series.points) {}

    std::int64_t step() const { return m_points.empty() ? kEnd : m_points.front().step; }
    // The last point of the step, at which a run may have evaluated twice; null: it has none there.
    const SeriesPoint* take(std::int64_t at) {
        const SeriesPoint* taken = nullptr;
        for (; step() == at; m_points = m_points.subspan(1)) taken = &m_points.front();
        return taken;
    }

private:
    std::span<const SeriesPoint> m_points;
};

std::int64_t firstStep(const std::vector<Rest>& rests) {
    std::int64_t first = kEnd;
    for (const Rest& each : rests) first = std::min(first, each.step());
    return first;
}

}  // namespace

std::vector<TrialSeries> seriesOf(const TrialQuery& query, std::int64_t trial) {
    std::vector<TrialSeries> all;
    for (const std::string& key : query.metrics(trial)) {
        if (const Metric* metric = metricOf(key)) all.push_back({key, metric, query.series(trial, key)});
    }
    std::ranges::stable_sort(all, {}, &TrialSeries::metric);  // they lie in one list
    return all;
}

std::string seriesCsv(const std::vector<TrialSeries>& series) {
    std::string csv = "step,seconds";
    for (const TrialSeries& each : series) csv += ',' + each.key;
    csv += '\n';
    std::vector<Rest> rests(series.begin(), series.end());
    for (auto step = firstStep(rests); step < kEnd; step = firstStep(rests)) {
        double seconds = 0;
        std::string cells;
        for (Rest& each : rests) {
            const SeriesPoint* point = each.take(step);
            cells += ',' + (point ? numberCell(point->value) : std::string());
            if (point) seconds = std::max(seconds, point->seconds);
        }
        csv += std::to_string(step) + ',' + numberCell(seconds) + cells + '\n';
    }
    return csv;
}

std::vector<TensorboardScalar> scalarsOf(const std::vector<TrialSeries>& series, double begin) {
    std::vector<TensorboardScalar> scalars;
    for (const TrialSeries& each : series) {
        for (const SeriesPoint& point : each.points)
            scalars.push_back({tagOf(each), point.step, begin + point.seconds, point.value});
    }
    std::ranges::stable_sort(scalars, {}, &TensorboardScalar::step);
    return scalars;
}

}  // namespace lockstep
