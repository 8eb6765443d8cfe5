#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/search/sweep_spec.h"
#include "engine/spec/devices.h"
#include "ui/train/measured_speeds.h"

namespace lockstep::ui {

// How many cells a sweep tries, at most: where a sequence has no end, there may be fewer that differ.
std::int64_t cellsOf(const SweepSpec& sweep, const SearchSpace& space);

// Of a grid of not too many cells: how many it has without constraints, and how many of them fulfil each one alone, by
// its text. nullopt: it is none, or has no constraints.
struct ConstraintCounts {
    std::int64_t cells = 0;
    std::map<std::string, std::int64_t> meeting;
};
std::optional<ConstraintCounts> constraintCounts(const SweepSpec& sweep, const SearchSpace& space);

// How many of its trials a machine has room for at once.
int trialsAtOnce(const SweepSpec& sweep, const DeviceRequest& machine);

// What a scheduler lets a sweep of so many cells train of all their epochs, if each rung lets exactly its share go on.
struct RungEstimate {
    std::vector<RungPlan> plan;
    std::int64_t epochs = 0, all = 0;  // of one seed
};
std::optional<RungEstimate> rungEstimate(const SweepSpec& sweep, std::int64_t cells);  // nullopt: it has none

// How long it would take, from what was measured; nullopt where nothing was of some of its trials. `samplesPerEpoch`:
// of its trial's training data.
std::optional<double> sweepSeconds(const SweepSpec& sweep, const SearchSpace& space, double samplesPerEpoch, int atOnce,
                                   const MeasuredSpeeds& speeds);

}  // namespace lockstep::ui
