#include "ui/train/field_places.h"

#include "engine/spec/perplexity.h"
#include "ui/train/sweep_form.h"

namespace lockstep::ui {

namespace {

const QStringList kOfEquation{"devices", "batch", "accumulation"};
const QStringList kOfData{"validation_share", "validation_seed"};
const QStringList kOfModel{"weights", "frozen"};
const QStringList kOfHead{"new_head"};
const QStringList kOfText{"sample_length", "sample_prompt", "sample_temperature"};
const QStringList kOfParts{"shares", "batch_norm"};
const QStringList kOfRate{"learning_rate", "learning_rate_rule", "learning_rate_batch"};
const QStringList kOfRun{"title", "epochs", "seed", "precision", "mode", "shards", "shard_threads"};
const QStringList kOfFaults{"checkpoint_minutes", "keep_checkpoints", "check_every",   "on_lost_device",
                            "on_non_finite",      "on_bad_sample",    "max_bad_share", "timeout",
                            "loader_limit",       "link_bandwidth",   "link_latency"};

bool isLanguageModel(const SpecForm& form) {
    const FormOption* model = form.catalog().option("model", form.value("model").toString());
    return model && model->task.toStdString() == kNextTokens;
}

// Random weights have no old head; only language models write text; shards are of the reproducible mode,
// parts of a batch of several devices in the fast one; a rule scales from a batch, and of what is held out a seed tells
// which.
bool meansSomething(const SpecForm& form, const QString& path) {
    if (kOfHead.contains(path)) return !form.value("weights").toString().isEmpty();
    if (kOfText.contains(path)) return isLanguageModel(form);
    if (path == "shards" || path == "shard_threads") return form.isReproducible();
    if (kOfParts.contains(path)) return !form.isReproducible() && form.devices().count() > 1;
    if (path == "validation_seed") return form.value("validation_share").toDouble() > 0;
    if (path == "learning_rate_batch") return form.value("learning_rate_rule").toString() != "none";
    return true;
}

bool isSet(const SpecForm& form, const FormField& field) {
    const bool hides = kOfParts.contains(field.path) || kOfHead.contains(field.path) || kOfText.contains(field.path);
    return hides && form.value(field.path) != field.fallback;
}

}  // namespace

FieldPlaces::FieldPlaces(const SpecForm& form) {
    for (const auto& field : form.catalog().trial) {
        if (kOfEquation.contains(field.path)) continue;
        const bool isShown = meansSomething(form, field.path) || isSet(form, field) ||
                             form.sweep().isVaried(field.path) || !form.problemsAt(field.path).empty();
        if (!isShown) continue;
        auto& place = kOfData.contains(field.path)     ? data
                      : kOfModel.contains(field.path)  ? model
                      : kOfHead.contains(field.path)   ? head
                      : kOfParts.contains(field.path)  ? devices
                      : kOfText.contains(field.path)   ? text
                      : kOfRate.contains(field.path)   ? rate
                      : kOfRun.contains(field.path)    ? run
                      : kOfFaults.contains(field.path) ? faults
                                                       : more;
        place << field;
    }
}

}  // namespace lockstep::ui
