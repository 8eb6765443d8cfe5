#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "engine/search/tried.h"

namespace lockstep {

// Whether a cell may be suggested; also asked of the beginning of one.
using MayBe = std::function<bool(const Cell& cell)>;

// Tree-structured Parzen estimators (sources: parzen.h): what the best cells have in common and the others have not.
// Joint: dimensions that count under the same conditions are chosen together, and learn from those cells in which they
// counted; else each dimension is chosen by itself. Running cells count among the others (a constant liar: Ginsbourger,
// Le Riche, Carraro, "Kriging is well-suited to parallelize optimization", 2010), so that their places are avoided.
// nullopt: nothing that may be was found near what it would have liked.
// `tried`: in the order in which they were suggested; `number`: how many that is. Pure.
std::optional<Cell> suggestByTpe(const SearchSpace& space, std::span<const Tried> tried, bool isJoint,
                                 std::uint64_t seed, const MayBe& mayBe);

// Cells whose results are awaited before anything is learned from them.
constexpr std::size_t kTpeBeginning = 10;
// How many of the best of so many count as good.
std::size_t goodOf(std::size_t count);

}  // namespace lockstep
