#pragma once
#include <QString>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ui/models/trial_curves.h"
#include "ui/models/seed_groups.h"

namespace lockstep::ui {

// A quantity whose curves are compared.
struct ComparedMetric {
    std::string key;                               // of TrialQuery::series
    QString name, axis;                            // "Test accuracy", "test accuracy (%)"
    double scale = 1;                              // 100: shares, shown as percent
};
const std::vector<ComparedMetric>& comparedMetrics();

struct ComparedCurve {
    std::int64_t series = 0;                       // the trial whose colour it has: its group's lowest
    QString name;                                  // "#12 wide net", "#12, #13, #14 wide net"
    CurveBand band;
};
// A curve per trial or, by seeds, per group of trials that differ in seed alone; those without points are left out.
std::vector<ComparedCurve> comparedCurves(const TrialCurves& curves, const ComparedMetric& metric, bool bySeeds);

// What the plot shows, in words: the last value of each curve.
QString summaryOf(std::span<const ComparedCurve> curves, const ComparedMetric& metric, std::size_t trials);

}  // namespace lockstep::ui
