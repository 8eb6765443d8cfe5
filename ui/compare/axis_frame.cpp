#include "ui/compare/axis_frame.h"

#include <algorithm>
#include <cmath>

namespace lockstep::ui {

namespace {

constexpr std::size_t kMostNamed = 6;

// Few values are named one by one; of more than `most`, none.
std::vector<double> distinctValues(const std::vector<double>& values, std::size_t most) {
    std::vector<double> distinct;
    for (const double value : values) {
        if (!std::isfinite(value) || std::ranges::find(distinct, value) != distinct.end()) continue;
        if (distinct.size() == most) return {};
        distinct.push_back(value);
    }
    std::ranges::sort(distinct);
    return distinct;
}

}  // namespace

ChartAxis chartAxis(const CompareAxis& axis, int mostTicks) {
    ChartAxis chart{.scale = {}, .title = axis.name, .words = [axis = &axis](double tick) { return axis->text(tick); }};
    if (!axis.isChoice()) {
        chart.scale = chartScale(axis.low, axis.high, axis.isLog, mostTicks);
        if (axis.key == kMemory) {  // whole ones of what is read, which is MiB
            constexpr double kMiB = 1 << 20;
            chart.scale.ticks = chartScale(axis.low / kMiB, axis.high / kMiB, axis.isLog, mostTicks).ticks;
            for (double& tick : chart.scale.ticks) tick *= kMiB;
        }
        if (axis.isSetting) chart.words = nullptr;
        const auto values = axis.isSetting ? distinctValues(axis.values, kMostNamed) : std::vector<double>();
        if (values.size() > 1) {
            chart.scale.ticks = values;
            chart.words = [](double tick) { return QString::number(tick, 'g', 4); };
        }
        return chart;
    }
    chart.scale = {.low = -0.5, .high = static_cast<double>(axis.choices.size()) - 0.5, .isLog = false, .ticks = {}};
    for (int i = 0; i < axis.choices.size(); ++i) chart.scale.ticks.push_back(i);
    return chart;
}

double goodness(const CompareAxis& objective, double value) {
    if (!std::isfinite(value)) return std::nan("");
    if (objective.high <= objective.low) return 1;
    const double share = (value - objective.low) / (objective.high - objective.low);
    return objective.better == Better::Lower ? 1 - share : share;
}

std::vector<std::size_t> settingsByImportance(const CompareScene& scene) {
    std::vector<std::size_t> settings;
    for (std::size_t i = 0; i < scene.table->axes.size(); ++i)
        if (scene.table->axes[i].isSetting) settings.push_back(i);
    if (scene.importance.size() == scene.table->axes.size())
        std::ranges::stable_sort(settings, std::greater(), [&](std::size_t axis) { return scene.importance[axis]; });
    return settings;
}

}  // namespace lockstep::ui
