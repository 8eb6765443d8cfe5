#include "app/trial_json.h"

#include "engine/model/registry.h"
#include "engine/spec/perplexity.h"

namespace lockstep {

namespace {

Json orNull(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

bool foretells(const std::string& model) {
    const ModelEntry* entry = findModel(builtinModels(), model);
    return entry && entry->task == ModelTask::NextTokens;
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
    if (!foretells(row.model)) return out;
    const auto derived = [&](double (*from)(double)) { return row.testLoss ? Json(from(*row.testLoss)) : Json(); };
    out["test_perplexity"] = derived(&perplexity);
    out["test_bits_per_byte"] = derived(&bitsPerByte);
    return out;
}

}  // namespace lockstep
