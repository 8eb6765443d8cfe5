#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/queue/sweep_results.h"
#include "engine/search/tried.h"

// What a sweep's cells came to, for whoever learns from them: lower is better, of an accuracy it is its negative.
namespace lockstep {

// For the importance of settings: those that have a value.
std::vector<Tried> triedCells(const SweepResult& sweep);

// The same of what they had come to by an epoch (from 1), the best until then: of cells with a trial that was evaluated
// there or behind it, however it went on. A cell's mean is that of these trials. `values`: of the objective. Pure.
struct EarlyCells {
    std::vector<Tried> tried = {};
    std::int64_t trials = 0;  // that came there
};
EarlyCells triedCellsAt(const SweepResult& sweep, std::span<const GroupTrial> trials,
                        std::span<const GroupValue> values, std::int64_t epoch);

// All that were suggested, by number, for the next suggestion: those that pause at a rung with what they came to there.
// `bestOf`: the objective of a trial that has finished. Pure.
std::vector<Tried> suggestedCells(const SweepSpec& sweep, const Metric* objective, std::span<const Cell> cells,
                                  std::span<const GroupTrial> trials, std::span<const Climber> climbers,
                                  const std::function<std::optional<double>(std::int64_t trial)>& bestOf);

}  // namespace lockstep
