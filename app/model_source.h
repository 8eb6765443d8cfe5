#pragma once
#include <filesystem>
#include <string>

#include "app/checkpoint_file.h"
#include "app/context.h"
#include "engine/train/checkpoint.h"
#include "engine/train/plan_run.h"

namespace lockstep {

// A trained model as a command names it: a trial of the history, or the file of a checkpoint; and on which devices.
struct ModelSource {
    std::string word, devices;
    CheckpointChoice choice;
};
void addModelSource(CLI::App& command, ModelSource& source);  // the positional, --best, --last, --checkpoint, --devices

struct OpenedModel {
    std::filesystem::path file;
    std::string role;  // "best", "last", "epoch-7"; of a file: its path
    Checkpoint checkpoint;
    ResolvedSpec resolved;  // on those devices
    DatasetInfo trained;    // what the model knows of its data
};
// Problems: those of openCheckpoint(), resolve() and trainedOn().
Result<OpenedModel> openModelSource(const ModelSource& source, const Environment& environment);

}  // namespace lockstep
