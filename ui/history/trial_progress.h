#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/history/trial_query.h"

namespace lockstep::ui {

// How a trial went: what it said of itself, and one metric of its evaluations.
struct TrialProgress {
    TrialWorlds worlds = {};
    std::vector<EvaluationPoint> evaluations = {};  // none, of a metric of steps
};
// By trial; one that has not changed is the same object as before.
using ProgressOfTrials = std::unordered_map<std::int64_t, std::shared_ptr<const TrialProgress>>;

}  // namespace lockstep::ui
