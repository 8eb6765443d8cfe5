#pragma once
#include <vector>

#include "engine/search/sweep_spec.h"

namespace lockstep {

// Trials that show what is wrong with a sweep's values: each end of a range and each choice by itself, under the first
// condition that lets it count. Of very many choices the first ones.
std::vector<TrialSpec> probesOf(const SweepSpec& sweep, const SearchSpace& space);

}  // namespace lockstep
