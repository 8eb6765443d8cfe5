#pragma once
#include <QString>
#include <map>
#include <string>
#include <vector>

#include "ui/history/mean_curve.h"
#include "ui/history/seed_groups.h"
#include "ui/history/trial_curves.h"

namespace lockstep::ui {

// A quantity whose curves are compared.
struct ComparedMetric {
    std::string key;             // names it in settings
    QString name;                // "Test accuracy"
    std::string series, second;  // of TrialQuery::series; second: drawn dashed, empty: none
    bool percent = false;
    bool smoothed = false;  // measured at every step, and noisy
};
const std::vector<ComparedMetric>& comparedMetrics();
const ComparedMetric& comparedMetric(const std::string& key);  // the first where there is no such

// Makes the curves of a comparison; on any one thread. Means of the same curves as the time before are the same
// objects.
class CurveComparison {
public:
    // A curve per trial or, by seeds, per group of trials that differ in seed alone; those without points are left out.
    std::vector<ComparedCurve> compare(const std::vector<TrialCurve>& trials, const ComparedMetric& metric,
                                       bool bySeeds);

private:
    using Members = std::vector<std::shared_ptr<const Curve>>;
    const MeanCurve& mean(const Members& members);

    std::map<Members, MeanCurve> m_known, m_used;
};

}  // namespace lockstep::ui
