#include "app/model_source.h"

#include "engine/train/evaluate.h"

namespace lockstep {

void addModelSource(CLI::App& command, ModelSource& source) {
    command.add_option("checkpoint", source.word, "A trial of the history, or the file of a checkpoint")
        ->required()
        ->type_name("ID|FILE");
    addCheckpointChoice(command, source.choice);
    command.add_option("--devices", source.devices, "Devices to use; the trial's unless given")->type_name("DEVICES");
}

void addCheckpointChoice(CLI::App& command, CheckpointChoice& choice) {
    auto* best = command.add_flag("--best", choice.best,
                                  "Of a trial: the best evaluation's weights (the default, where they are kept)");
    auto* last = command.add_flag("--last", choice.last, "Of a trial: the latest weights")->excludes(best);
    command
        .add_option("--checkpoint", choice.which,
                    "Of a trial: best, last, or the epoch of a checkpoint that is kept; lockstep show lists them")
        ->type_name("WHICH")
        ->excludes(best)
        ->excludes(last);
}

// What is found may be freed, or pruned by its run, before it is open.
Result<OpenedCheckpoint> openCheckpoint(const std::string& word, const CheckpointChoice& choice) {
    constexpr int kLooks = 2;
    for (int look = 1;; ++look) {
        const auto chosen = checkpointFile(word, choice);
        if (!chosen.ok()) return chosen.problems();
        auto checkpoint = readCheckpoint(chosen.value().file);
        if (checkpoint.ok()) return OpenedCheckpoint{chosen.value(), std::move(checkpoint).value()};
        std::error_code ignored;
        const bool isGone = namesTrial(word) && !std::filesystem::exists(chosen.value().file, ignored);
        if (!isGone || look == kLooks) return checkpoint.problems();
    }
}

Result<OpenedModel> openModelSource(const ModelSource& source, const Environment& environment) {
    auto opened = openCheckpoint(source.word, source.choice);
    if (!opened.ok()) return opened.problems();
    auto [chosen, checkpoint] = std::move(opened).value();
    OpenedModel model{chosen.file, chosen.role, std::move(checkpoint), {}, {}};
    auto resolved = resolve(specToEvaluate(model.checkpoint.spec, source.devices), environment);
    if (!resolved.ok()) return resolved.problems();
    model.resolved = std::move(resolved).value();
    auto trained = trainedOn(model.checkpoint, model.resolved);
    if (!trained.ok()) return trained.problems();
    model.trained = std::move(trained).value();
    return model;
}

}  // namespace lockstep
