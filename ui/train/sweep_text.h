#pragma once
#include <QString>
#include <optional>

#include "engine/search/sweep_spec.h"

namespace lockstep::ui {

// What the button says: "Start sweep: 27 trials × 3 seeds, about 40 min".
QString sweepStartText(std::int64_t cells, std::int64_t repeats, std::optional<double> seconds);
QString roughDuration(double seconds);  // "about 40 min", "about 2 h 10 min", "about 3 days"

// By what the best of a sweep is chosen, and what that is worth. `ownValidation`: samples that the data have for it;
// empty: nobody knows yet.
QString choosingText(double validationShare, std::optional<std::int64_t> ownValidation);

QString rangeText(const Dimension& dimension);  // "log 0.001 … 1, 4 points", "64, 128, 256"

}  // namespace lockstep::ui
