#pragma once
#include <optional>
#include <span>
#include <vector>

#include "engine/history/queue_query.h"
#include "engine/search/sweep_spec.h"

namespace lockstep {

// What counts for a sweep's trials: what it names, or as the first that has begun says. Null: none has begun.
const Metric* objectiveOf(const TrialQuery& query, const SweepSpec& sweep, std::span<const GroupTrial> trials);

// How the cells of a sweep with a scheduler stand, by number: all repeats of a cell climb together, and its loss at a
// rung is the mean of the best that each has come to by then. A cell one of whose trials failed, was stopped by a
// person or removed on its way to a rung has come there as the worst. Pure. `values`: of the objective; `arrivals`: as
// noted; what is not noted yet comes after it, by number.
std::vector<Climber> climbersOf(const SweepSpec& sweep, const Metric& objective, std::span<const GroupTrial> trials,
                                std::span<const GroupValue> values, std::span<const RungArrival> arrivals);
// A loss of climbersOf(), as a value of the objective.
double valueOfLoss(const Metric& objective, double loss);
// What has come to a rung and is not noted yet, in the order of climbersOf().
std::vector<RungArrival> newArrivals(std::span<const Climber> climbers, std::span<const RungArrival> noted);

// The trial that is to train on, and to which epoch (empty: its last): one whose cell goes on already, or the first of
// the cell that goes on next. Pure.
struct Ascent {
    GroupPlace place;
    std::optional<std::int64_t> untilEpoch = {};
};
std::optional<Ascent> nextAscent(const Rungs& rungs, std::span<const Climber> climbers,
                                 std::span<const GroupTrial> trials);

// What of a group's history climbersOf() asks besides its trials.
struct RungFacts {
    std::vector<GroupValue> values = {};
    std::vector<RungArrival> arrivals = {};
};
RungFacts rungFactsOf(const QueueQuery& query, const Metric& objective, std::int64_t group);

}  // namespace lockstep
