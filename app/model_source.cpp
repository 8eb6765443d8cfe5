#include "app/model_source.h"

#include "app/checkpoint_file.h"
#include "engine/train/evaluate.h"

namespace lockstep {

void addModelSource(CLI::App& command, ModelSource& source) {
    command.add_option("checkpoint", source.word, "A trial of the history, or the file of a checkpoint")
        ->required()
        ->type_name("ID|FILE");
    auto* best = command.add_flag("--best", source.best, "Of a trial: the best evaluation's weights (the default)");
    command.add_flag("--last", source.last, "Of a trial: the latest weights")->excludes(best);
    command.add_option("--devices", source.devices, "Devices to use; the trial's unless given")->type_name("DEVICES");
}

Result<std::filesystem::path> fileOf(const ModelSource& source) {
    if ((source.best || source.last) && !namesTrial(source.word))
        return Problem{source.word, "export.no-choice", {source.best ? "--best" : "--last"}};
    return checkpointFile(source.word, source.last ? CheckpointRole::Last : CheckpointRole::Best);
}

Result<OpenedModel> openModelSource(const ModelSource& source, const Environment& environment) {
    const auto file = fileOf(source);
    if (!file.ok()) return file.problems();
    auto checkpoint = readCheckpoint(file.value());
    if (!checkpoint.ok()) return checkpoint.problems();
    OpenedModel model{file.value(), {}, std::move(checkpoint).value(), {}, {}};
    model.role = !namesTrial(source.word) ? model.file.string() : source.last ? "last" : "best";
    auto resolved = resolve(specToEvaluate(model.checkpoint.spec, source.devices), environment);
    if (!resolved.ok()) return resolved.problems();
    model.resolved = std::move(resolved).value();
    auto trained = trainedOn(model.checkpoint, model.resolved);
    if (!trained.ok()) return trained.problems();
    model.trained = std::move(trained).value();
    return model;
}

}  // namespace lockstep
