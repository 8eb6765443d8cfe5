#include "app/checkpoint_file.h"
#include "app/commands/commands.h"
#include "app/train_run.h"

namespace lockstep {

std::span<const AddCommand> allCommands() {
    static constexpr AddCommand kCommands[] = {
        addTrain,    addDevices, addModels,   addFindRate, addFindBatch,     addBench,   addCheck, addProve,
        addDatasets, addInspect, addEvaluate, addPredict,  addExportWeights, addProgram, addServe, addProbePlugin,
    };
    return kCommands;
}

bool hasHistory() { return false; }

bool namesTrial(const std::string&) { return false; }

Result<ChosenCheckpoint> checkpointFile(const std::string& word, const CheckpointChoice& choice) {
    if (!choice.word().empty()) return Problem{word, "export.no-choice", {choice.option()}};
    return ChosenCheckpoint{word, word};
}

KeptEvaluation keepEvaluation(const Evaluation&, const DataKnown&) { return {}; }

Result<RunResult> runIntoHistory(const TrialSpec& spec, const Watcher& watcher, const Environment& environment) {
    return runPlainly({spec, {}, std::nullopt, &watcher.control, {&watcher.terminal}, watcher.onStuck}, environment);
}

Result<std::int64_t> addToQueue(const TrialSpec&, const Environment&) {
    return Problem{"trial", "trial.unknown", {"0", "a build without a history"}};
}

Result<RunResult> runFromHistory(const HistoryRun& run, const Watcher&, const Environment&) {
    return Problem{"trial", "trial.unknown", {std::to_string(run.trial), "a build without a history"}};
}

}  // namespace lockstep
