#include "app/trial_json.h"

#include "engine/model/registry.h"

namespace lockstep {

namespace {

Json orNull(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

const TaskMetrics& metricsOf(const std::string& model) {
    const ModelEntry* entry = findModel(builtinModels(), model);
    return metricsFor(entry ? text(entry->task) : std::string_view());
}

Json trialJson(const TrialRow& row) {
    Json out = {{"trial", row.id},
                {"title", row.title},
                {"state", row.state},
                {"dataset", row.dataset},
                {"model", row.model},
                {"devices", row.devices},
                {"batch", row.batch},
                {"learning_rate", row.learningRate},
                {"attempts", row.attempts},
                {"step", row.step},
                {"epoch", row.epoch},
                {"epochs", row.epochs},
                {"best_accuracy", orNull(row.bestAccuracy)},
                {"test_accuracy", orNull(row.testAccuracy)},
                {"lowest_test_loss", orNull(row.lowestTestLoss)},
                {"test_loss", orNull(row.testLoss)},
                {"train_samples_per_second", orNull(row.samplesPerSecond)},
                {"seconds", orNull(row.seconds)},
                {"created_at", row.createdAt},
                {"finished_at", row.finishedAt},
                {"run_directory", row.runDirectory},
                {"failure", row.failure},
                {"note", row.note},
                {"deleted", row.deleted}};
    const TaskMetrics& metrics = metricsOf(row.model);
    for (const Metric* each : {metrics.test, metrics.aside}) {
        if (each && each->derive) out[std::string(each->key)] = orNull(newest(row, *each));
    }
    return out;
}

}  // namespace lockstep
