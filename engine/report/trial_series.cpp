#include "engine/report/trial_series.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

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
    const char* group = metric.split == Split::Test ? "test/" : metric.evaluated ? "epoch/" : "train/";
    return group + std::string(metric.name);
}

struct Row {
    double seconds = 0;
    std::vector<std::string> cells;
};

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
    std::map<std::int64_t, Row> rows;
    for (std::size_t column = 0; column < series.size(); ++column) {
        csv += ',' + series[column].key;
        for (const SeriesPoint& point : series[column].points) {
            Row& row = rows[point.step];
            row.seconds = std::max(row.seconds, point.seconds);
            row.cells.resize(series.size());
            row.cells[column] = numberCell(point.value);
        }
    }
    csv += '\n';
    for (const auto& [step, row] : rows) {
        csv += std::to_string(step) + ',' + numberCell(row.seconds);
        for (const std::string& cell : row.cells) csv += ',' + cell;
        csv += '\n';
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
