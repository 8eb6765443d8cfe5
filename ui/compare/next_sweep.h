#pragma once
#include <optional>

#include "engine/search/sweep_spec.h"
#include "ui/compare/compare_scene.h"

namespace lockstep::ui {

// A sweep of what the brushes leave: of a sweep the same one with its ranges narrowed and choices left out; of other
// trials what differs among those that pass, around `base`. A setting that is left with one value is no longer varied.
// nullopt: nothing is left to vary.
std::optional<SweepSpec> brushedSweep(const CompareScene& scene, const Brushes& brushes, const TrialSpec& base);

// `count` more trials of `best`, with seeds that none of its group has.
SweepSpec moreSeeds(const CompareScene& scene, std::size_t bestRow, const TrialSpec& best, int count);

}  // namespace lockstep::ui
