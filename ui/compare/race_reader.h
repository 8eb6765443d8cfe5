#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/history/trial_query.h"
#include "ui/compare/race.h"

namespace lockstep::ui {

// The evaluations of a trial in the order of time, with the values of `metric` (Metric::key), which may follow from
// another. Devices count as many as its latest attempt had; where no attempt has said how long an epoch is, each
// evaluation ends one. Belongs to the thread of the query, and throws as it does.
std::vector<RacePoint> racePoints(const TrialQuery& query, std::int64_t trial, const std::string& metric);

}  // namespace lockstep::ui
