#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "app/checkpoint_file.h"
#include "app/context.h"
#include "engine/train/checkpoint.h"
#include "engine/train/evaluate.h"
#include "engine/train/plan_run.h"
#include "engine/train/rank_threads.h"

namespace lockstep {

// A trained model as a command names it: a trial of the history, or the file of a checkpoint; and where it is asked.
struct ModelSource {
    std::string word;
    AskedOn on;
    CheckpointChoice choice;
};
// The positional, --best, --last, --checkpoint, --devices, --precision.
void addModelSource(CLI::App& command, ModelSource& source);

struct OpenedModel {
    std::filesystem::path file;
    std::string role;        // "best", "last", "epoch-7"; of a file: its path
    std::int64_t trial = 0;  // that was asked for; of a file: the one that it says
    Checkpoint checkpoint;
    ResolvedSpec resolved;  // on those devices, in that precision; "auto" until settlePrecision()
    DatasetInfo trained;    // what the model knows of its data
};
// Problems: those of openCheckpoint(), resolveToEvaluate() and trainedOn().
Result<OpenedModel> openModelSource(const ModelSource& source, const Environment& environment);

// With --precision auto times the model, and takes what is fastest: to be called once nothing else can be wrong.
// Remarks on the precision: which was chosen, that it is another than the training's, that it is slow.
std::vector<Problem> settlePrecision(OpenedModel& model, const AskedOn& on);

// For whoever asks it: where a device or the data hang, says so and ends the process, as threads cannot be ended.
// `context` outlives what this returns.
decltype(Watch::onStuck) endingProcess(const Context& context);

}  // namespace lockstep
