#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/result.h"

namespace lockstep {

// Rungs at which the cells of a sweep pause, and the better ones go on: asynchronous successive halving (ASHA; Li,
// Jamieson, Rostamizadeh, Gonina, Ben-tzur, Hardt, Recht, Talwalkar, "A System for Massively Parallel Hyperparameter
// Tuning", MLSys 2020, algorithm 2). The lowest is 0.
struct Rungs {
    std::vector<std::int64_t> epochs;  // after which cells pause, rising; the last: all of a trial's
    std::int64_t reduction = 3;        // of so many cells one goes on
    // A cell goes on at once or never: where its place among those that came to its rung before it is within
    // max(n / reduction, 1), as Optuna and Determined have it.
    bool stops = false;
    std::size_t top() const { return epochs.size() - 1; }
};

// first, first x reduction, … as long as another such step ends within `epochs`; then `epochs`. Problems: "rungs.first"
// (not from 1 to less than the epochs), "rungs.reduction" (below 2).
Result<Rungs> rungsOf(std::int64_t first, std::int64_t reduction, std::int64_t epochs, bool stops);

// A cell on its way up.
struct Climber {
    std::int64_t cell = 0;
    std::vector<double> losses = {};  // at the rungs that it has come to; lower is better, NaN is worst: it failed
    std::vector<std::int64_t> arrivals = {};  // at each of them: the later, the higher
    std::size_t goal = 0;                     // the rung that it may climb to
    bool isAtGoal() const { return losses.size() > goal; }
};

// The cell that is to go on now, one rung further: the best of those that have earned it, from the top down. nullopt:
// none has, so another cell may begin. From what is known, in any order. Pure.
std::optional<std::int64_t> nextPromotion(const Rungs& rungs, std::span<const Climber> climbers);

// How a cell stands at the highest rung that it has come to; nullopt: at none yet. Equal ones stand as their numbers
// do.
struct Standing {
    std::size_t rung = 0;
    std::int64_t rank = 1, of = 1;
};
std::optional<Standing> standingOf(std::span<const Climber> climbers, std::int64_t cell);

// The best cell of the highest rung that one has come to with a loss that is a number; nullopt: none has. Equal ones
// stand as their numbers do.
std::optional<std::int64_t> leaderOf(std::span<const Climber> climbers);

// What a sweep of so many cells comes to, if each rung lets exactly its share go on.
struct RungPlan {
    std::int64_t epochs = 0, cells = 0;
};
std::vector<RungPlan> planOf(const Rungs& rungs, std::int64_t cells);
std::int64_t epochsOf(std::span<const RungPlan> plan);  // in all: a cell that goes on trains the difference

// Spearman's rank correlation of the losses at a rung and at the next one, of the cells that came to both: whether the
// lower one foretells the higher. nullopt: of fewer than three.
std::optional<double> rankCorrelation(std::span<const Climber> climbers, std::size_t rung);

// What has become of a rung so far.
struct RungCount {
    std::int64_t cells = 0, wentOn = 0;      // that have come to it; of these, that were let go on
    std::optional<double> correlation = {};  // the next rung: rankCorrelation()
};
RungCount countAt(std::span<const Climber> climbers, std::size_t rung);

}  // namespace lockstep
