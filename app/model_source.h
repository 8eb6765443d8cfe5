#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "app/checkpoint_file.h"
#include "app/context.h"
#include "engine/train/checkpoint.h"
#include "engine/train/plan_run.h"
#include "engine/train/rank_threads.h"

namespace lockstep {

// A trained model as a command names it: a trial of the history, or the file of a checkpoint; and on which devices.
struct ModelSource {
    std::string word, devices;
    CheckpointChoice choice;
};
void addModelSource(CLI::App& command, ModelSource& source);  // the positional, --best, --last, --checkpoint, --devices

struct OpenedModel {
    std::filesystem::path file;
    std::string role;        // "best", "last", "epoch-7"; of a file: its path
    std::int64_t trial = 0;  // that was asked for; of a file: the one that it says
    Checkpoint checkpoint;
    ResolvedSpec resolved;  // on those devices
    DatasetInfo trained;    // what the model knows of its data
};
// Problems: those of openCheckpoint(), resolveToEvaluate() and trainedOn().
Result<OpenedModel> openModelSource(const ModelSource& source, const Environment& environment);

// For whoever asks it: where a device or the data hang, says so and ends the process, as threads cannot be ended.
// `context` outlives what this returns.
decltype(Watch::onStuck) endingProcess(const Context& context);

}  // namespace lockstep
