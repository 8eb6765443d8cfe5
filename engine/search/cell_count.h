#pragma once
#include <optional>

#include "engine/search/sweep_spec.h"

namespace lockstep {

// How many cells a space has, exactly up to 2^53; infinite where a range has as many values as numbers have digits.
// Constraints count where they can be asked of every cell: up to kMostGridCells.
double cellCount(const SearchSpace& space);

// Why a sweep would try nothing: no cell fulfils its constraints. Of a grid all are looked at ("sweep.no-cells"), of
// other methods kPatience that are drawn ("sweep.no-cells-drawn"); where constraints exclude all cells one by one, the
// first of those is named. Empty: there is a cell. `space`: spaceOf(sweep). Pure.
std::optional<Problem> problemOfNoCells(const SweepSpec& sweep, const SearchSpace& space);

}  // namespace lockstep
