#include "ui/compare/member_curve.h"

#include <algorithm>

namespace lockstep::ui {

namespace {

// Of trials whose start said nothing: each evaluation ends an epoch.
double stepsPerEpochOf(const TrialProgress& progress) {
    if (const double said = progress.worlds.stepsPerEpoch(); said > 0) return said;
    if (progress.evaluations.empty() || progress.evaluations.back().epoch <= 0) return 0;
    const EvaluationPoint& last = progress.evaluations.back();
    return static_cast<double>(last.step) / static_cast<double>(last.epoch);
}

}  // namespace

MemberCurve curveOfEvaluations(const TrialProgress& progress) {
    auto curve = std::make_shared<Curve>();
    for (const EvaluationPoint& each : progress.evaluations)
        curve->append(Curve::Place{static_cast<double>(each.step), each.seconds, each.deviceSeconds}, each.value);
    return {std::move(curve), nullptr, stepsPerEpochOf(progress), progress.worlds.samplesPerStep()};
}

MemberCurve curveOfStretches(std::span<const SeriesStretch> stretches, const TrialWorlds& worlds) {
    auto means = std::make_shared<Curve>(), extremes = std::make_shared<Curve>();
    DeviceClock clock(worlds);
    for (const SeriesStretch& each : stretches) {
        const Curve::Place place{static_cast<double>(each.step), each.seconds, clock.at(each.step, each.seconds)};
        means->append(place, each.mean);
        extremes->append(place, each.low);
        if (each.high != each.low) extremes->append(place, each.high);
    }
    const bool hasWidth = std::ranges::any_of(stretches, [](const SeriesStretch& each) { return each.count > 1; });
    MemberCurve member{std::move(means), nullptr, worlds.stepsPerEpoch(), worlds.samplesPerStep()};
    if (hasWidth) member.measured = std::move(extremes);
    return member;
}

}  // namespace lockstep::ui
