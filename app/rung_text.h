#pragma once
#include <string>

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
Json standingJson(const SweepResult& sweep, std::int64_t cell);  // null: it has come to no rung

}  // namespace lockstep
