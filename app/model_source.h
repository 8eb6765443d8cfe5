#pragma once
#include <filesystem>
#include <string>

#include "app/context.h"
#include "engine/train/checkpoint.h"
#include "engine/train/plan_run.h"

namespace lockstep {

// A trained model as a command names it: a trial of the history, or the file of a checkpoint; and on which devices.
struct ModelSource {
    std::string word, devices;
    bool best = false, last = false;
};
void addModelSource(CLI::App& command, ModelSource& source);  // the positional, --best, --last, --devices

struct OpenedModel {
    std::filesystem::path file;
    std::string role;  // "best", "last"; of a file: its path
    Checkpoint checkpoint;
    ResolvedSpec resolved;  // on those devices
    DatasetInfo trained;    // what the model knows of its data
};
// Problems: those of checkpointFile(), readCheckpoint(), resolve() and trainedOn().
Result<std::filesystem::path> fileOf(const ModelSource& source);
Result<OpenedModel> openModelSource(const ModelSource& source, const Environment& environment);

}  // namespace lockstep
