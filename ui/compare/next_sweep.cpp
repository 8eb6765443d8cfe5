#include "ui/compare/next_sweep.h"

#include <algorithm>
#include <cmath>

namespace lockstep::ui {

namespace {

std::string textOfValue(const ParamValue& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* isTrue = std::get_if<bool>(&value)) return *isTrue ? "true" : "false";
    return QString::number(*numberOf(value), 'g', 10).toStdString();
}

bool isWithin(const AxisBrush& brush, double value) {
    return std::ranges::any_of(brush.ranges,
                               [&](const auto& range) { return range.low <= value && value <= range.high; });
}

// From the lowest end of its brushes to the highest: a range has no holes.
void narrow(NumberRange& range, const AxisBrush& brush) {
    const auto low = std::ranges::min_element(brush.ranges, {}, &AxisBrush::Range::low);
    const auto high = std::ranges::max_element(brush.ranges, {}, &AxisBrush::Range::high);
    if (low == brush.ranges.end()) return;
    range.low = std::clamp(low->low, range.low, range.high);
    range.high = std::clamp(high->high, range.low, range.high);
}

void narrow(ChoiceOfValues& choices, const AxisBrush& brush) {
    std::erase_if(choices, [&](const ParamValue& value) {
        const auto number = numberOf(value);
        const bool isWanted =
            number && !brush.ranges.empty() ? isWithin(brush, *number) : brush.choices.contains(textOfValue(value));
        return !isWanted;
    });
}

// The only value that it has left; nullopt: there are several.
std::optional<ParamValue> onlyValue(const Dimension& dimension) {
    if (const auto* choices = std::get_if<ChoiceOfValues>(&dimension.values))
        return choices->size() == 1 ? std::optional(choices->front()) : std::nullopt;
    const auto& range = std::get<NumberRange>(dimension.values);
    if (range.low < range.high) return std::nullopt;
    return range.isWhole.value_or(false) ? ParamValue(std::llround(range.low)) : ParamValue(range.low);
}

Dimension dimensionAmong(const CompareScene& scene, const CompareAxis& axis) {
    ChoiceOfValues choices;
    std::vector<double> numbers;
    for (std::size_t row = 0; row < scene.passes.size(); ++row) {
        if (!scene.passes[row] || axis.absences[row] != Absence::None) continue;
        numbers.push_back(axis.values[row]);
    }
    std::ranges::sort(numbers);
    const auto rest = std::ranges::unique(numbers);
    numbers.erase(rest.begin(), rest.end());
    Dimension dimension{.path = axis.key, .values = ChoiceOfValues{}};
    if (axis.isChoice()) {
        for (const double each : numbers) choices.emplace_back(axis.text(each).toStdString());
        dimension.values = std::move(choices);
    } else if (!numbers.empty()) {
        const bool isWhole = std::ranges::all_of(numbers, [](double each) { return each == std::round(each); });
        dimension.values =
            NumberRange{.low = numbers.front(), .high = numbers.back(), .isLog = axis.isLog, .isWhole = isWhole};
    }
    return dimension;
}

bool hasValues(const Dimension& dimension) {
    const auto* choices = std::get_if<ChoiceOfValues>(&dimension.values);
    return !choices || !choices->empty();
}

}  // namespace

std::optional<SweepSpec> brushedSweep(const CompareScene& scene, const Brushes& brushes, const TrialSpec& base) {
    SweepSpec sweep;
    if (scene.sweep) {
        sweep = scene.sweep->spec;
        for (Dimension& each : sweep.vary) {
            const auto brush = brushes.find(each.path);
            if (brush != brushes.end()) std::visit([&](auto& values) { narrow(values, brush->second); }, each.values);
        }
    } else {
        sweep.trial = base;
        for (const CompareAxis& axis : scene.table->axes)
            if (axis.isSetting) sweep.vary.push_back(dimensionAmong(scene, axis));
    }
    std::erase_if(sweep.vary, [](const Dimension& each) { return !hasValues(each); });
    for (const Dimension& each : sweep.vary)
        if (const auto only = onlyValue(each)) (void)writeSetting(sweep.trial, each.path, *only);
    std::erase_if(sweep.vary, [](const Dimension& each) { return onlyValue(each).has_value(); });
    // A condition on a setting that is no longer varied holds, or its dimension had no trial among those that pass.
    for (Dimension& each : sweep.vary)
        std::erase_if(each.when, [&](const DimensionCondition& condition) {
            return std::ranges::find(sweep.vary, condition.path, &Dimension::path) == sweep.vary.end();
        });
    sweep.title.clear();
    return sweep.vary.empty() ? std::nullopt : std::optional(std::move(sweep));
}

SweepSpec moreSeeds(const CompareScene& scene, std::size_t bestRow, const TrialSpec& best, int count) {
    const auto& trials = scene.table->trials;
    const auto isOfGroup = [&](const ComparedTrial& each) { return each.group == trials[bestRow].group; };
    const auto repeats = std::ranges::count_if(trials, isOfGroup);
    const auto before = std::count_if(trials.begin(), trials.begin() + static_cast<std::ptrdiff_t>(bestRow), isOfGroup);
    SweepSpec sweep;
    sweep.trial = best;
    sweep.method = "grid";
    sweep.trials = 0;
    if (scene.sweep) sweep.objective = scene.sweep->spec.objective, sweep.parallel = scene.sweep->spec.parallel;
    // Repeats have seeds that follow each other; these follow them, as repeats of one cell: its mean is what is asked.
    sweep.trial.seed = best.seed + static_cast<std::uint64_t>(repeats - before);
    sweep.repeats = count;
    sweep.vary = {{"learning_rate", ChoiceOfValues{best.learningRate}}};
    return sweep;
}

}  // namespace lockstep::ui
