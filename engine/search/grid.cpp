#include "engine/search/grid.h"

#include <algorithm>

#include "engine/core/number_text.h"

namespace lockstep {

namespace {

bool isAskedAbout(const SearchSpace& space, const Dimension& dimension) {
    return std::ranges::any_of(space.dimensions(), [&](const Dimension& each) {
        return std::ranges::find(each.when, dimension.path, &DimensionCondition::path) != each.when.end();
    });
}

// Values that nobody asks about only multiply.
double sizeFrom(const SearchSpace& space, std::size_t place, Cell& cell) {
    if (place == space.dimensions().size()) return 1;
    const Dimension& dimension = space.dimensions()[place];
    if (!space.isActive(dimension, cell)) return sizeFrom(space, place + 1, cell);
    const std::int64_t count = *dimension.count();
    if (!isAskedAbout(space, dimension)) return static_cast<double>(count) * sizeFrom(space, place + 1, cell);
    double size = 0;
    for (std::int64_t i = 0; i < std::min(count, kMostGridCells); ++i) {
        cell.push_back({dimension.path, dimension.value(i)});
        size += sizeFrom(space, place + 1, cell);
        cell.pop_back();
    }
    return size;
}

void collect(const SearchSpace& space, std::size_t place, Cell& cell, std::vector<Cell>& all) {
    if (place == space.dimensions().size()) {
        if (space.holds(cell)) all.push_back(cell);
        return;
    }
    const Dimension& dimension = space.dimensions()[place];
    if (!space.isActive(dimension, cell)) return collect(space, place + 1, cell, all);
    for (std::int64_t i = 0; i < *dimension.count(); ++i) {
        cell.push_back({dimension.path, dimension.value(i)});
        collect(space, place + 1, cell, all);
        cell.pop_back();
    }
}

}  // namespace

double gridSize(const SearchSpace& space) {
    Cell cell;
    return sizeFrom(space, 0, cell);
}

std::optional<Problem> checkGrid(const SearchSpace& space) {
    for (const Dimension& each : space.dimensions()) {
        if (!each.count()) return Problem{each.path, "search.endless", {}};
    }
    const double size = gridSize(space);
    if (size > static_cast<double>(kMostGridCells))
        return Problem{"vary", "search.too-many-cells", {formatted("%.0f", size), countText(kMostGridCells)}};
    return std::nullopt;
}

std::vector<Cell> gridCells(const SearchSpace& space) {
    std::vector<Cell> all;
    Cell cell;
    collect(space, 0, cell, all);
    return all;
}

}  // namespace lockstep
