#pragma once
#include <cstdint>
#include <string>

#include "engine/search/search_space.h"

namespace lockstep {

constexpr std::int64_t kMostGridCells = 100'000;

// How many cells the grid of a space has before its constraints, exactly up to 2^53. Dimensions that do not count under
// a condition do not multiply. Every dimension must be countable, see checkGrid().
double gridSize(const SearchSpace& space);

// Problems: "search.endless" for a dimension with as many values as numbers have digits; "search.too-many-cells".
std::optional<Problem> checkGrid(const SearchSpace& space);

// All cells that fulfil the constraints, the last dimension's values fastest.
std::vector<Cell> gridCells(const SearchSpace& space);

}  // namespace lockstep
