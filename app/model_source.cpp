#include "app/model_source.h"

#include <cstdio>
#include <cstdlib>

#include "app/measured_precision.h"
#include "engine/spec/kept_checkpoints.h"
#include "engine/train/evaluate.h"
#include "engine/train/trained_on.h"

namespace lockstep {

void addModelSource(CLI::App& command, ModelSource& source) {
    addCheckpointSource(command, source.word, source.choice);
    command.add_option("--devices", source.on.devices, "Devices to use; the trial's unless given")
        ->type_name("DEVICES");
    command
        .add_option(
            "--precision", source.on.precision,
            "What to compute in: fp32, tf32, bf16, fp16, or auto, which takes what is fastest here; the trial's "
            "unless given")
        ->type_name("PRECISION");
}

void addCheckpointSource(CLI::App& command, std::string& word, CheckpointChoice& choice) {
    command.add_option("checkpoint", word, "A trial of the history, or the file of a checkpoint")
        ->required()
        ->type_name("ID|FILE");
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

namespace {

// Advises the last one in the place of another that is damaged.
std::vector<Problem> withOther(const ChosenCheckpoint& chosen, std::vector<Problem> problems) {
    const std::string code = problems.front().code;
    const bool isDamaged =
        code == "checkpoint.altered" || code == "checkpoint.malformed" || code == "checkpoint.truncated";
    std::error_code ignored;
    const bool hasLast = chosen.trial > 0 && chosen.role != kLast &&
                         std::filesystem::exists(chosen.file.parent_path() / checkpointName(kLast), ignored);
    if (!isDamaged || !hasLast) return problems;
    return {{chosen.file.string(), "trial.damaged-checkpoint", {std::to_string(chosen.trial)}}};
}

}  // namespace

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
        if (!isGone || look == kLooks) return withOther(chosen.value(), checkpoint.problems());
    }
}

std::vector<Problem> settlePrecision(OpenedModel& model, const AskedOn& on) {
    std::vector<Problem> remarks;
    ResolvedSpec& resolved = model.resolved;
    const ModelInput input =
        modelInput(*resolved.model, model.trained, resolved.spec.batch, resolved.spec.labelSmoothing);
    if (auto chosen = choosePrecisionShown(resolved, input, {.inference = true}))
        remarks.push_back(std::move(chosen->words));
    else if (auto other = otherPrecision(model.checkpoint.spec, resolved); other && !on.precision)
        remarks.push_back(std::move(*other));
    return remarks;
}

Result<OpenedModel> openModelSource(const ModelSource& source, const Environment& environment) {
    auto opened = openCheckpoint(source.word, source.choice);
    if (!opened.ok()) return opened.problems();
    auto [chosen, checkpoint] = std::move(opened).value();
    auto resolved = resolveToEvaluate(checkpoint.spec, source.on, environment);
    if (!resolved.ok()) return resolved.problems();
    auto trained = trainedOn(checkpoint, resolved.value());
    if (!trained.ok()) return trained.problems();
    const std::int64_t trial = namesTrial(source.word) ? chosen.trial : checkpoint.trial;
    return OpenedModel{chosen.file,
                       chosen.role,
                       trial,
                       std::move(checkpoint),
                       std::move(resolved).value(),
                       std::move(trained).value()};
}

decltype(Watch::onStuck) endingProcess(const Context& context) {
    return [&context](const AbortCause& cause, const std::vector<int>&) {
        const auto told = problemIn({.kind = cause.kind, .where = cause.where, .what = cause.what, .args = cause.args});
        const Problem stuck{cause.where, "run.failed." + cause.kind, {cause.what, "The command"}};
        context.report({told.value_or(stuck)});
        std::fflush(stdout);
        std::_Exit(kFailed);
    };
}

}  // namespace lockstep
