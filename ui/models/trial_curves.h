#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/history/trial_query.h"

namespace lockstep::ui {

constexpr std::size_t kComparedTrials = 50;        // curves at once; more nobody can tell apart

// A trial with one of its curves.
struct TrialCurve {
    std::int64_t trial = 0;
    TrialSpec spec;
    std::vector<SeriesPoint> points;
    std::optional<Problem> failure = std::nullopt; // that ended it, where a person can repair it
};
struct TrialCurves {
    std::vector<TrialCurve> trials;                // those whose spec can be read
    std::vector<Problem> problems;                 // of the others
};

}  // namespace lockstep::ui
