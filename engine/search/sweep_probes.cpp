#include "engine/search/sweep_probes.h"

namespace lockstep {

namespace {

constexpr std::size_t kMostProbes = 200;

ChoiceOfValues probedValues(const Dimension& dimension) {
    if (const auto* values = std::get_if<ChoiceOfValues>(&dimension.values)) return *values;
    const auto& range = std::get<NumberRange>(dimension.values);
    if (!range.isWhole.value_or(false)) return {range.low, range.high};
    return {static_cast<std::int64_t>(range.low), static_cast<std::int64_t>(range.high)};
}

}  // namespace

std::vector<TrialSpec> probesOf(const SweepSpec& sweep, const SearchSpace& space) {
    std::vector<TrialSpec> probes;
    for (const Dimension& dimension : space.dimensions()) {
        for (const ParamValue& value : probedValues(dimension)) {
            if (probes.size() == kMostProbes) return probes;
            Cell cell;
            for (const DimensionCondition& each : dimension.when) cell.push_back({each.path, each.values.front()});
            cell.push_back({dimension.path, value});
            probes.push_back(trialOf(sweep.trial, cell));
        }
    }
    return probes;
}

}  // namespace lockstep
