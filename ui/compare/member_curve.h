#pragma once
#include <memory>
#include <span>

#include "engine/history/trial_query.h"
#include "ui/history/trial_progress.h"
#include "ui/plot/curve.h"

namespace lockstep::ui {

// One quantity of one trial, and what its steps are in other units.
struct MemberCurve {
    std::shared_ptr<const Curve> curve = nullptr;     // null: it has none
    std::shared_ptr<const Curve> measured = nullptr;  // where `curve` has means of stretches: their extremes
    double stepsPerEpoch = 0, samplesPerStep = 0;     // 0: unknown
};

MemberCurve curveOfEvaluations(const TrialProgress& progress);
MemberCurve curveOfStretches(std::span<const SeriesStretch> stretches, const TrialWorlds& worlds);

}  // namespace lockstep::ui
