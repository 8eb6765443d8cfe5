#pragma once
#include <string>
#include <vector>

#include "app/listing.h"
#include "engine/queue/sweep_results.h"

namespace lockstep {

// "91.23 % ± 0.41 (n 3)"; "–": no trial of it has finished.
std::string objectiveName(const Metric& metric);  // "validation accuracy"
std::string objectiveText(const CellResult& cell, const Metric* objective);
// "12 of 81 trials finished, 2 running, 1 failed; best test accuracy 91.2 % (n 3): batch=64; about 4 min left"
std::string progressText(const SweepResult& sweep);
std::string cellsTable(const SweepResult& sweep);           // the best first, with its trials; and its rungs
std::vector<std::size_t> ranked(const SweepResult& sweep);  // its cells in that order
// "3 finished", "stopped at rung 1 of 3, rank 4 of 9": what has become of a cell's trials.
std::string stateText(const SweepResult& sweep, const CellResult& cell);
std::string failureText(const SweepResult& sweep, const Words& words);  // why the first failed; empty: none has
std::string virtualText(const SweepResult& sweep);  // a line, where its devices are virtual; or empty
Json settingsJson(const Cell& cell);
Json finiteOrNull(double value);
Json sweepResultJson(const SweepResult& sweep, const Words& words);

}  // namespace lockstep
