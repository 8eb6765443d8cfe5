#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "ui/history/compared_curves.h"

namespace lockstep::ui {

// Reads the curves of a comparison out of the history; those of trials that went no farther since the last time are
// kept. Belongs to the thread of its query. Throws ProblemError as TrialQuery does.
class CurveReader {
public:
    // Empty when `cancelled` said so on the way.
    std::optional<TrialCurves> read(const TrialQuery& query, const CurveRequest& request,
                                    const std::function<bool()>& cancelled);
    void forget() { m_known.clear(); }  // another history

private:
    struct Known {
        std::int64_t attempt = 0, lastEvent = 0;
        TrialCurve curve;
    };

    static TrialCurve readTrial(const TrialQuery& query, std::int64_t trial, TrialSpec spec,
                                const ComparedMetric& metric);

    std::map<std::pair<std::int64_t, std::string>, Known> m_known;
    CurveComparison m_comparison;
};

}  // namespace lockstep::ui
