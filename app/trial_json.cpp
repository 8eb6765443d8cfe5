#include "app/trial_json.h"

#include "engine/model/registry.h"

namespace lockstep {

namespace {

template <class T>
Json orNull(const T& value) {
    return value;
}
Json orNull(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

const TaskMetrics& metricsOf(const TrialRow& row) {
    const ModelEntry* entry = findModel(builtinModels(), row.model);
    return metricsFor(entry ? text(entry->task) : std::string_view(), row.chooses());
}

Json trialJson(const TrialRow& row) {
    Json out;
    for (const RowColumn& each : rowColumns())
        std::visit([&](auto at) { out[std::string(each.key)] = orNull(row.*at); }, each.at);
    out["failure"] = row.failure;
    out["tags"] = row.tags;
    const TaskMetrics& metrics = metricsOf(row);
    for (const Metric* each : {metrics.quality, metrics.aside}) {
        if (each && each->derive) out[std::string(each->key)] = orNull(newest(row, *each));
    }
    return out;
}

}  // namespace lockstep
