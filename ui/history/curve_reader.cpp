#include "ui/history/curve_reader.h"

#include <utility>

namespace lockstep::ui {

namespace {

std::shared_ptr<const Curve> curveOf(const TrialQuery& query, std::int64_t trial, const std::string& series) {
    auto curve = std::make_shared<Curve>();
    for (const auto& point : query.series(trial, series))
        curve->append(static_cast<double>(point.step), point.seconds, point.value);
    return curve;
}

// Each epoch ends with an evaluation.
double stepsPerEpochOf(const TrialQuery& query, std::int64_t trial) {
    const auto evaluations = query.series(trial, "train_loss");
    return evaluations.empty() ? 0 : static_cast<double>(evaluations.front().step);
}

}  // namespace

TrialCurve CurveReader::readTrial(const TrialQuery& query, std::int64_t trial, TrialSpec spec,
                                  const ComparedMetric& metric) {
    const auto failed = query.failure(trial);
    TrialCurve out{trial, std::move(spec), curveOf(query, trial, metric.series), nullptr,
                   stepsPerEpochOf(query, trial)};
    if (!metric.second.empty()) out.second = curveOf(query, trial, metric.second);
    if (failed) out.failure = problemIn(*failed);
    return out;
}

std::optional<TrialCurves> CurveReader::read(const TrialQuery& query, const CurveRequest& request,
                                             const std::function<bool()>& cancelled) {
    const ComparedMetric& metric = comparedMetric(request.metric);
    TrialCurves out{request};
    std::map<std::pair<std::int64_t, std::string>, Known> used;
    for (const auto trial : request.trials) {
        if (cancelled()) return std::nullopt;
        const auto row = query.find(trial);
        auto spec = query.spec(trial);
        if (!row || !spec.ok()) {
            if (!spec.ok()) out.problems.push_back(spec.problems().front());
            continue;
        }
        const auto key = std::pair(trial, metric.key);
        const auto lastEvent = query.lastEvent(trial);
        auto known = m_known.find(key);
        const bool current =
            known != m_known.end() && known->second.attempt == row->attempts && known->second.lastEvent == lastEvent;
        used[key] =
            current ? known->second : Known{row->attempts, lastEvent, readTrial(query, trial, spec.value(), metric)};
        used[key].curve.spec = std::move(spec).value();  // its title may be another one
        out.trials.push_back(used[key].curve);
    }
    m_known = std::move(used);
    out.compared = m_comparison.compare(out.trials, metric, request.bySeeds);
    return out;
}

}  // namespace lockstep::ui
