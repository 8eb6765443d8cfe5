#pragma once
#include <QString>

#include "engine/queue/sweep_results.h"

namespace lockstep::ui {

QString sweepName(const TrialGroup& sweep);  // "Sweep 3: wide nets"
QString cellText(const Cell& settings);      // "learning_rate=0.01 batch=64", in the words of the command line
// "91.23 % ± 0.41 (n 3)"; of a single trial its value alone.
QString objectiveText(const CellResult& cell, const Metric& metric);
// "91.23 % at epoch 3"
QString rungValueText(const BestAtRung& best, const Metric& metric);
// "2 paused at a rung", or "stopped", once the sweep is over.
QString atRungText(const SweepResult& sweep, std::int64_t count);
// "paused at rung 1 of 3, rank 4 of 9", or "stopped", once the sweep is over; empty: it is not at one.
QString rungStopText(const SweepResult& sweep, const CellResult& cell);

}  // namespace lockstep::ui
