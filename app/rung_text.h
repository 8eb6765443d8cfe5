#pragma once
#include <functional>
#include <string>
#include <vector>

#include "app/listing.h"
#include "engine/queue/sweep_results.h"

namespace lockstep {

// Before a sweep with a scheduler starts: its rungs, how many cells come to each, and what that is of all epochs.
std::string rungPlanText(const SweepSpec& sweep, std::int64_t cells);

// How its cells stand: a line for each rung. Empty: it has no scheduler, or no cell has come to a rung.
std::string rungTable(const SweepResult& sweep);
// "paused at rung 1 of 3, rank 4 of 9", or "stopped", once the sweep is over; empty: it is not at one.
std::string pausedText(const SweepResult& sweep, const CellResult& cell);
Json rungsJson(const SweepResult& sweep);
// "91.20 % at epoch 1", of a cell that came to a rung and not to its end; empty: of another.
std::string rungValueText(const SweepResult& sweep, const CellResult& cell);
// "none trained to its end; the best at rung 1: …"; empty: one has, or none has come to a rung.
std::string bestAtRungText(const SweepResult& sweep);
// Null: it has come to no rung. Value and epoch are null where it has trained to its end, or failed.
Json standingJson(const SweepResult& sweep, const CellResult& cell);

// A rung, and how many cells have something to say of the sweep's objective there.
struct EarlyRung {
    std::int64_t rung = 1, epoch = 0;
    std::size_t cells = 0;
};
// All of a sweep's; empty: it has none. `cellsAt`: by what epoch.
std::vector<EarlyRung> earlyRungs(const SweepResult& sweep, const std::function<std::size_t(std::int64_t)>& cellsAt);
// "9 of 27 cells were trained to the end; --rung 2 asks with the 14 that came to epoch 3.": the highest rung with
// enough cells to ask with, or else the one with the most. Empty: none has more than were trained to the end.
std::string earlierRungText(std::size_t cells, std::size_t trained, const std::vector<EarlyRung>& rungs);
// At which a rung (from 1) lies. Problems "rungs.none", "rungs.beyond".
Result<std::int64_t> epochOfRung(const SweepResult& sweep, std::int64_t rung);

}  // namespace lockstep
