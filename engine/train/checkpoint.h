#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/core/tensor.h"
#include "engine/data/dataset.h"
#include "engine/spec/trial_spec.h"

namespace lockstep {

// A checkpoint: logical, row-major tensors by canonical name, and where the run stood. The file is safetensors
// (huggingface/safetensors: u64 header length, JSON header, tensors without gaps), so other tools can read it; the
// position and the spec are in its __metadata__.
inline constexpr const char* kCheckpointFormat = "lockstep-checkpoint-1";  // its "format" in __metadata__
// What the evaluation that it was written after came to, by the metric that tells which is the best.
struct CheckpointScore {
    std::string metric;  // its key
    double value = 0;
    bool operator==(const CheckpointScore&) const = default;
};
struct Checkpoint {
    TrialSpec spec;
    std::int64_t trial = 0;
    std::int64_t step = 0;                    // optimizer updates done
    std::int64_t epoch = 0, stepInEpoch = 0;  // the next step to run (epoch from 0)
    double bestAccuracy = -1;                 // of the evaluations so far; -1: there was none
    std::optional<double> lowestLoss;         // likewise; empty in files from before it was kept
    std::map<std::string, double> epochSums;  // sums of the epoch under way: loss_sum, weight, …
    double trainSeconds = 0;                  // spent so far
    double lossScale = 0;                     // 1 where none is needed; 0: of a file from before there was one
    std::int64_t lossScaleUpdates = 0;
    std::optional<DataFingerprint> data = {};   // what it was trained on; empty in files from before it was kept
    std::optional<DatasetInfo> trainedOn = {};  // trained_on.h; empty in files from before it was kept
    std::map<std::string, HostTensor> tensors = {};
    std::optional<CheckpointScore> score = {};  // empty within an epoch, and in files from before it was kept
};

// Temp file beside it, fsync, rename, fsync of the folder: after a kill or power loss the old or the new file is there,
// whole. Throws EngineError(Io) naming file and cause; the old file is then untouched.
void writeCheckpoint(const std::filesystem::path& file, const Checkpoint& checkpoint);

// Every field of the header is checked before memory is taken; see readTensorFile. Problems: "checkpoint.…" with the
// file as field.
Result<Checkpoint> readCheckpoint(const std::filesystem::path& file);
Result<Checkpoint> readCheckpointPosition(const std::filesystem::path& file);  // as strict; without the tensors

}  // namespace lockstep
