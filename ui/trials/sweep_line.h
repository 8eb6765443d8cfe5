#pragma once
#include <QString>

#include "engine/queue/sweep_results.h"

namespace lockstep::ui {

// "Sweep 3: wide nets — 27 of 81 finished, 2 running, best 91.23 % ± 0.41 (n 3): learning_rate=0.01 batch=64"; null:
// what it has come to is not known yet.
QString sweepLine(const TrialGroup& sweep, const SweepResult* result);

}  // namespace lockstep::ui
