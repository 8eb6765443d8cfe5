#include "ui/compare/race_reader.h"

#include <algorithm>

namespace lockstep::ui {

namespace {

// An epoch's last batch may be smaller.
double samplesAt(std::int64_t step, const std::optional<RunStarted>& started, std::int64_t batch) {
    if (!started || started->stepsPerEpoch <= 0 || started->trainSamples <= 0) return static_cast<double>(step * batch);
    const std::int64_t epochs = step / started->stepsPerEpoch, steps = step % started->stepsPerEpoch;
    return static_cast<double>(epochs * started->trainSamples + std::min(steps * batch, started->trainSamples));
}

}  // namespace

std::vector<RacePoint> racePoints(const TrialQuery& query, std::int64_t trial, const std::string& metric) {
    const auto row = query.find(trial);
    if (!row) return {};
    const auto started = query.started(trial);
    const double devices = started ? static_cast<double>(std::max<std::size_t>(1, started->devices.size())) : 1;
    const double perEpoch = started ? static_cast<double>(started->stepsPerEpoch) : 0;
    std::vector<RacePoint> points;
    for (const SeriesPoint& each : query.series(trial, metric)) {
        const auto step = static_cast<double>(each.step);
        points.push_back({.step = step,
                          .epoch = perEpoch > 0 ? step / perEpoch : static_cast<double>(points.size() + 1),
                          .samples = samplesAt(each.step, started, row->batch),
                          .seconds = each.seconds,
                          .deviceSeconds = each.seconds * devices,
                          .value = each.value});
    }
    return points;
}

}  // namespace lockstep::ui
