#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "engine/search/sweep_spec.h"

namespace lockstep {

struct ChosenMethod {
    std::string method;
    std::string reason =
        {};  // "search.auto-…", whose words the catalogue has; empty: the sweep names its method itself
};

// What "auto" means for a sweep, by its space and its trials: the grid where all of it is tried; "sobol" where trials
// are too few to learn from; "gp" for up to kMostGpTrials in few dimensions that are mostly numbers; else "tpe".
// `space`: spaceOf(sweep). Pure.
constexpr std::int64_t kMostGpTrials = 150;
ChosenMethod chosenMethod(const SweepSpec& sweep, const SearchSpace& space);

bool learns(std::string_view method);  // from what cells came to

// The names that a sweep's method may have.
const std::vector<std::string>& searchMethods();

}  // namespace lockstep
