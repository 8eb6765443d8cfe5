#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/history/trial_query.h"
#include "engine/report/tensorboard_file.h"

namespace lockstep {

// All that was measured of a trial, in the order of metrics.h; of ranks one series each.
struct TrialSeries {
    std::string key;  // "loss", "compute.0"
    const Metric* metric = nullptr;
    std::vector<SeriesPoint> points;
};
std::vector<TrialSeries> seriesOf(const TrialQuery& query, std::int64_t trial);

// RFC 4180 with a header: step, seconds, then a column for each series, empty where it has nothing at that step.
std::string seriesCsv(const std::vector<TrialSeries>& series);

// "train/loss" of updates, "epoch/loss", "test/accuracy", "compute/rank 0"; seconds count from `begin`, seconds since
// 1970.
std::vector<TensorboardScalar> scalarsOf(const std::vector<TrialSeries>& series, double begin);

}  // namespace lockstep
