#pragma once
#include <optional>
#include <span>

#include "engine/search/sweep_spec.h"

namespace lockstep {

// The next cell of a sweep, from those that were suggested before, in any order, whatever became of them: nobody
// remembers anything else, so a restart goes on as if there had been none, and no cell comes twice. nullopt: the sweep
// has its `trials`, or there is no further cell that fulfils the constraints (none among kPatience points in a row).
// `space`: spaceOf(sweep). Pure.
constexpr int kPatience = 20'000;
std::optional<Cell> nextCell(const SweepSpec& sweep, const SearchSpace& space, std::span<const Cell> suggested);

}  // namespace lockstep
