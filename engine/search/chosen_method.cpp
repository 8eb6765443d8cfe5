#include "engine/search/chosen_method.h"

#include <algorithm>

#include "engine/search/grid.h"

namespace lockstep {

namespace {

constexpr std::int64_t kMostGpDimensions = 10;

bool isWholeGridTried(const SweepSpec& sweep, const SearchSpace& space) {
    const bool isCountable =
        std::ranges::all_of(space.dimensions(), [](const Dimension& each) { return each.count().has_value(); });
    return isCountable && gridSize(space) <= static_cast<double>(sweep.trials);
}

}  // namespace

const std::vector<std::string>& searchMethods() {
    static const std::vector<std::string> names{"auto", "grid", "random", "sobol", "tpe", "tpe-univariate", "gp"};
    return names;
}

bool learns(std::string_view method) { return method == "tpe" || method == "tpe-univariate" || method == "gp"; }

ChosenMethod chosenMethod(const SweepSpec& sweep, const SearchSpace& space) {
    if (sweep.method != "auto") return {sweep.method};
    const std::int64_t dimensions = std::ssize(space.dimensions());
    const std::int64_t ordered = std::ranges::count_if(space.dimensions(), &Dimension::isOrdered);
    if (isWholeGridTried(sweep, space)) return {"grid", "search.auto-grid"};
    if (sweep.trials <= 2 * dimensions) return {"sobol", "search.auto-few"};
    if (sweep.trials <= kMostGpTrials && dimensions <= kMostGpDimensions && 2 * ordered > dimensions)
        return {"gp", "search.auto-numbers"};
    return {"tpe", "search.auto-many"};
}

}  // namespace lockstep
