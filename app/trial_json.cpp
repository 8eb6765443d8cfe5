#include "app/trial_json.h"

namespace lockstep {

namespace {

Json orNull(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

Json trialJson(const TrialRow& row) {
    return {{"trial", row.id},
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
            {"test_loss", orNull(row.testLoss)},
            {"train_samples_per_second", orNull(row.samplesPerSecond)},
            {"seconds", orNull(row.seconds)},
            {"created_at", row.createdAt},
            {"finished_at", row.finishedAt},
            {"run_directory", row.runDirectory},
            {"failure", row.failure},
            {"note", row.note},
            {"deleted", row.deleted}};
}

}  // namespace lockstep
