#include "engine/search/cell_count.h"

#include <algorithm>
#include <limits>

#include "engine/core/number_text.h"
#include "engine/search/chosen_method.h"
#include "engine/search/grid.h"
#include "engine/search/suggest.h"

namespace lockstep {

namespace {

bool isCountable(const SearchSpace& space) {
    return std::ranges::all_of(space.dimensions(), [](const Dimension& each) { return each.count().has_value(); });
}

bool hasCell(const SweepSpec& sweep, const SearchSpace& space) {
    return nextCell(sweep, space, std::span<const Cell>()).has_value();
}

// The first that excludes all cells by itself, or all of them.
std::vector<Constraint> excluding(const SweepSpec& sweep, const SearchSpace& space) {
    for (const Constraint& each : space.constraints()) {
        if (!hasCell(sweep, space.under({each}))) return {each};
    }
    return space.constraints();
}

void append(std::string& list, const std::string& word) { list += (list.empty() ? "" : ", ") + word; }

}  // namespace

double cellCount(const SearchSpace& space) {
    if (!isCountable(space)) return std::numeric_limits<double>::infinity();
    const double all = gridSize(space);
    const bool canAsk = !space.constraints().empty() && all <= static_cast<double>(kMostGridCells);
    return canAsk ? static_cast<double>(gridCells(space).size()) : all;
}

std::optional<Problem> problemOfNoCells(const SweepSpec& sweep, const SearchSpace& space) {
    if (space.constraints().empty() || hasCell(sweep, space)) return std::nullopt;
    std::string constraints, settings;
    std::vector<std::string> named;
    for (const Constraint& each : excluding(sweep, space)) {
        append(constraints, each.text());
        for (const std::string& path : each.paths()) {
            if (std::ranges::find(named, path) != named.end()) continue;
            named.push_back(path);
            append(settings, path);
        }
    }
    const bool isGrid = chosenMethod(sweep, space).method == "grid";
    const std::string looked = countText(isGrid ? static_cast<std::int64_t>(gridSize(space)) : kPatience);
    return Problem{"constraints", isGrid ? "sweep.no-cells" : "sweep.no-cells-drawn", {looked, constraints, settings}};
}

}  // namespace lockstep
