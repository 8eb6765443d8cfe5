#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "engine/train/open_data.h"

namespace lockstep {

// A run without history, leases or socket: checkpoints go to a folder, or nowhere.
struct PlainRun {
    TrialSpec spec;
    std::filesystem::path checkpointFolder;  // empty: none are written; made when absent
    std::optional<Checkpoint> resumeFrom;
    RunControl* control = nullptr;
    std::vector<EventSink*> sinks;
    std::function<void(const RunFailed&)> onStuck = {};            // see RunOptions
    ChangedData changedData = ChangedData::Refuse;                 // where it goes on from a checkpoint
    std::function<double(std::int64_t update)> learningRate = {};  // see RunOptions
};
// Blocks until the run is over. Problems: of resolve(), of the dataset, of weightsProblems(), of compareData(),
// "out.unwritable".
Result<RunResult> runPlainly(const PlainRun& request, const Environment& environment);

}  // namespace lockstep
