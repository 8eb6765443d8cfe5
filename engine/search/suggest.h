#pragma once
#include <optional>
#include <span>

#include "engine/search/sweep_spec.h"
#include "engine/search/tried.h"

namespace lockstep {

// The next cell of a sweep, from those that were suggested before and what became of them: nobody remembers anything
// else, so a restart goes on as if there had been none, and no cell comes twice. `tried`: in the order of suggestion,
// which "grid", "random" and "sobol" do not ask about. nullopt: the sweep has its `trials`, or there is no further cell
// that fulfils the constraints (none among kPatience points in a row). `space`: spaceOf(sweep). Pure.
constexpr int kPatience = 20'000;
std::optional<Cell> nextCell(const SweepSpec& sweep, const SearchSpace& space, std::span<const Tried> tried);
// Where nothing has ended: methods that learn have nothing to learn from.
std::optional<Cell> nextCell(const SweepSpec& sweep, const SearchSpace& space, std::span<const Cell> suggested);

}  // namespace lockstep
