#include "ui/compare/heat_map.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep::ui {

namespace {

std::vector<double> eachDistinct(const CompareAxis& axis) {
    std::vector<double> values;
    std::ranges::copy_if(axis.values, std::back_inserter(values), [](double value) { return std::isfinite(value); });
    std::ranges::sort(values);
    const auto rest = std::ranges::unique(values);
    values.erase(rest.begin(), rest.end());
    return values;
}

HeatBins eachValue(const CompareAxis& axis, const std::vector<double>& values) {
    HeatBins bins;
    for (const double value : values) {
        HeatBins::Bin bin{{}, axis.text(value)};
        if (axis.isChoice()) bin.brush.choices.insert(bin.name.toStdString());
        else bin.brush.ranges.push_back({value, value});
        bins.bins.push_back(std::move(bin));
    }
    for (const double value : axis.values) {
        const auto at = std::ranges::lower_bound(values, value);
        bins.of.push_back(std::isfinite(value) ? std::optional(static_cast<std::size_t>(at - values.begin()))
                                               : std::nullopt);
    }
    return bins;
}

HeatBins equalParts(const CompareAxis& axis) {
    HeatBins bins;
    const auto place = [&](double value) { return axis.isLog ? std::log(value) : value; };
    const double low = place(axis.low), width = (place(axis.high) - low) / kMostBins;
    const auto end = [&](std::size_t i) {
        const double at = low + width * static_cast<double>(i);
        return axis.isLog ? std::exp(at) : at;
    };
    for (std::size_t i = 0; i < kMostBins; ++i) {
        const double from = i == 0 ? axis.low : end(i), to = i + 1 == kMostBins ? axis.high : end(i + 1);
        bins.bins.push_back({{.ranges = {{from, to}}}, axis.text(from) + " … " + axis.text(to)});
    }
    for (const double value : axis.values) {
        const double part = std::floor((place(value) - low) / width);
        bins.of.push_back(std::isfinite(value)
                              ? std::optional(static_cast<std::size_t>(std::clamp(part, 0.0, kMostBins - 1.0)))
                              : std::nullopt);
    }
    return bins;
}

}  // namespace

HeatBins heatBins(const CompareAxis& axis) {
    const auto values = eachDistinct(axis);
    return axis.isChoice() || values.size() <= kMostBins ? eachValue(axis, values) : equalParts(axis);
}

HeatMap heatMap(const CompareScene& scene, const CompareAxis& x, const CompareAxis& y, const CompareAxis& objective) {
    HeatMap map{.x = heatBins(x), .y = heatBins(y), .cells = {}};
    map.cells.resize(map.x.bins.size() * map.y.bins.size());
    for (std::size_t row = 0; row < scene.passes.size(); ++row) {
        const bool counts = scene.passes[row] && std::isfinite(objective.values[row]);
        if (!counts || !map.x.of[row] || !map.y.of[row]) continue;
        auto& cell = map.cells[*map.y.of[row] * map.x.bins.size() + *map.x.of[row]];
        cell.mean += objective.values[row];
        cell.rows.push_back(row);
        const std::int64_t epochs = scene.table->trials[row].epoch;
        map.fewestEpochs = map.mostEpochs == 0 ? epochs : std::min(map.fewestEpochs, epochs);
        map.mostEpochs = std::max(map.mostEpochs, epochs);
    }
    map.low = std::numeric_limits<double>::infinity(), map.high = -map.low;
    for (auto& cell : map.cells) {
        cell.mean = cell.rows.empty() ? std::nan("") : cell.mean / static_cast<double>(cell.rows.size());
        if (cell.rows.empty()) continue;
        map.low = std::min(map.low, cell.mean), map.high = std::max(map.high, cell.mean);
    }
    return map;
}

}  // namespace lockstep::ui
