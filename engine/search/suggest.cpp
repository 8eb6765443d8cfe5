#include "engine/search/suggest.h"

#include <algorithm>
#include <unordered_set>

#include "engine/core/content_hash.h"
#include "engine/search/chosen_method.h"
#include "engine/search/gp_search.h"
#include "engine/search/grid.h"
#include "engine/search/search_points.h"
#include "engine/search/sobol.h"
#include "engine/search/tpe.h"

namespace lockstep {

namespace {

struct CellHash {
    std::size_t operator()(const Cell& cell) const {
        ContentHash hash;
        for (const Setting& each : cell) {
            hash.add(each.path);
            hash.add(text(each.value));
        }
        return hash.value();
    }
};
using Cells = std::unordered_set<Cell, CellHash>;

std::optional<Cell> nextOfGrid(const SearchSpace& space, const Cells& known) {
    for (Cell& each : gridCells(space)) {
        if (!known.contains(each)) return std::move(each);
    }
    return std::nullopt;
}

std::optional<Cell> nextOfSequence(std::string_view method, const SweepSpec& sweep, const SearchSpace& space,
                                   const Cells& known) {
    std::size_t met = 0;
    for (std::uint32_t index = 0, vain = 0; vain < kPatience; ++index) {
        auto cell = space.cellAt(searchPoint(method, sweep.seed, index, space.dimensions().size()));
        const bool isKnown = cell && known.contains(*cell);
        if (cell && !isKnown) return cell;
        met += isKnown ? 1 : 0;
        vain = isKnown && met <= known.size() ? 0 : vain + 1;
    }
    return std::nullopt;
}

// What a method begins with that learns.
std::string_view beginningOf(const SearchSpace& space) {
    return space.dimensions().size() <= kSobolDimensions ? "sobol" : "random";
}

std::optional<Cell> nextLearned(std::string_view method, const SweepSpec& sweep, const SearchSpace& space,
                                std::span<const Tried> tried, const Cells& known) {
    const auto ended = static_cast<std::size_t>(std::ranges::count_if(tried, &Tried::hasEnded));
    const bool byProcess = method == "gp";
    std::optional<Cell> cell;
    if (ended >= (byProcess ? kGpBeginning : kTpeBeginning)) {
        const MayBe mayBe = [&](const Cell& each) { return space.holds(each) && !known.contains(each); };
        cell = byProcess ? suggestByGp(space, tried, sweep.seed, mayBe)
                         : suggestByTpe(space, tried, method == "tpe", sweep.seed, mayBe);
    }
    return cell ? cell : nextOfSequence(beginningOf(space), sweep, space, known);
}

}  // namespace

std::optional<Cell> nextCell(const SweepSpec& sweep, const SearchSpace& space, std::span<const Tried> tried) {
    if (sweep.trials > 0 && std::ssize(tried) >= sweep.trials) return std::nullopt;
    Cells known;
    for (const Tried& each : tried) known.insert(each.cell);
    const std::string method = chosenMethod(sweep, space).method;
    if (method == "grid") return nextOfGrid(space, known);
    if (method == "random" || method == "sobol") return nextOfSequence(method, sweep, space, known);
    return nextLearned(method, sweep, space, tried, known);
}

std::optional<Cell> nextCell(const SweepSpec& sweep, const SearchSpace& space, std::span<const Cell> suggested) {
    std::vector<Tried> tried;
    for (const Cell& each : suggested) tried.push_back({.cell = each, .state = TriedState::Running});
    return nextCell(sweep, space, tried);
}

}  // namespace lockstep
