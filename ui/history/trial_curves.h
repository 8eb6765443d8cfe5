#pragma once
#include <QString>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/history/trial_query.h"
#include "ui/plot/plot_model.h"

namespace lockstep::ui {

constexpr std::size_t kComparedTrials = 50;  // curves at once; more nobody can tell apart

// A trial with one or two of its curves. A curve that did not change is the same object as before.
struct TrialCurve {
    std::int64_t trial = 0;
    TrialSpec spec;
    std::shared_ptr<const Curve> curve = nullptr, second = nullptr;  // second: null where the quantity has none
    double stepsPerEpoch = 0;                                        // 0: unknown
    std::optional<Problem> failure = std::nullopt;                   // that ended it, where a person can repair it
};

// A curve of the comparison: of one trial, or the mean of several that differ in their seed alone.
struct ComparedCurve {
    std::int64_t series = 0;  // the trial whose colour it has: its group's lowest
    QString name;             // "#12 wide net", "#12, #13, #14 wide net"
    std::shared_ptr<const Curve> curve = nullptr;
    std::optional<PlotBand> band = std::nullopt;  // one sample standard deviation around the mean
    double stepsPerEpoch = 0;
    bool second = false;                    // of the quantity's two
    std::vector<std::int64_t> trials = {};  // whose curves it is made of
};

// What is asked of the history.
struct CurveRequest {
    std::vector<std::int64_t> trials;
    std::string metric;  // ComparedMetric::key
    bool bySeeds = false;
};
struct TrialCurves {
    CurveRequest request = {};
    std::vector<TrialCurve> trials = {};       // those whose spec can be read
    std::vector<Problem> problems = {};        // of the others
    std::vector<ComparedCurve> compared = {};  // those with points
};

}  // namespace lockstep::ui
