#pragma once
#include <QString>

#include "ui/compare/race.h"

namespace lockstep::ui {

// A race's clock in words.
QString raceClockName(PlotAxis clock);                         // "Device time"
QString raceClockText(PlotAxis clock, double at);              // "1,200 steps", "7 epochs", "1 min 12 s"
QString raceMoment(PlotAxis clock, double at, double end);     // "Epoch 3.4 of 10"
QString raceFinishText(const Race& race, std::size_t runner);  // when it reached the target; "> 10 epochs": never

}  // namespace lockstep::ui
