#pragma once
#include <optional>
#include <span>
#include <vector>

#include "engine/history/trial_query.h"
#include "engine/spec/metrics.h"
#include "ui/plot/plot_model.h"

namespace lockstep::ui {

// How far a trial had come at an evaluation, in the unit of an axis. `stepsPerEpoch` 0: unknown, the epoch that the
// evaluation says.
double amountAt(const EvaluationPoint& evaluation, PlotAxis axis, double stepsPerEpoch = 0);

// The first evaluation at or past the target; null: there is none, it was not reached within the trial's budget. A
// metric that neither rises nor falls has no target.
const EvaluationPoint* firstReaching(std::span<const EvaluationPoint> evaluations, double target, Better better);

// What became of a target in one trial, in the unit of an axis.
struct TargetRun {
    std::optional<double> reached;  // after so much
    double budget = 0;              // what it had trained by its last evaluation
    bool isOver = true;             // it trains no further
};
// The same of repeats that differ in their seed alone.
struct TargetSummary {
    // Of those that reached it or are over; those that never did count as later than all others. Empty: it lies among
    // those, or nobody has come so far.
    std::optional<double> median;
    int reached = 0, unreached = 0, underWay = 0;
    double budget = 0;  // the greatest
};
TargetSummary summaryOf(std::span<const TargetRun> runs);
// Earlier medians first; without one the greater number that reached it, then the smaller budget.
bool isEarlier(const TargetSummary& a, const TargetSummary& b);

}  // namespace lockstep::ui
