#include "engine/search/suggest.h"

#include <algorithm>
#include <unordered_set>

#include "engine/core/content_hash.h"
#include "engine/search/grid.h"
#include "engine/search/search_points.h"

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

std::optional<Cell> nextOfSequence(const SweepSpec& sweep, const SearchSpace& space, const Cells& known) {
    std::size_t met = 0;
    for (std::uint32_t index = 0, vain = 0; vain < kPatience; ++index) {
        auto cell = space.cellAt(searchPoint(sweep.method, sweep.seed, index, space.dimensions().size()));
        const bool isKnown = cell && known.contains(*cell);
        if (cell && !isKnown) return cell;
        met += isKnown ? 1 : 0;
        vain = isKnown && met <= known.size() ? 0 : vain + 1;
    }
    return std::nullopt;
}

}  // namespace

std::optional<Cell> nextCell(const SweepSpec& sweep, const SearchSpace& space, std::span<const Cell> suggested) {
    if (sweep.trials > 0 && static_cast<std::int64_t>(suggested.size()) >= sweep.trials) return std::nullopt;
    const Cells known(suggested.begin(), suggested.end());
    return sweep.method == "grid" ? nextOfGrid(space, known) : nextOfSequence(sweep, space, known);
}

}  // namespace lockstep
