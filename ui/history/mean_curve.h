#pragma once
#include <memory>
#include <span>

#include "ui/plot/plot_model.h"

namespace lockstep::ui {

// What a band around a mean shows. Standard error: the deviation over the root of the number of curves. Extremes: the
// least and the greatest of them.
enum class BandKind { Deviation, StandardError, Extremes };

struct MeanCurve {
    std::shared_ptr<const Curve> mean;
    PlotBand band;  // at its places
};

// Of one or more curves, by bandOf(): of values, and of the times, at the same steps.
MeanCurve meanOf(std::span<const std::shared_ptr<const Curve>> members, BandKind kind);

}  // namespace lockstep::ui
