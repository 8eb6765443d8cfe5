#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/data/partition.h"
#include "engine/data/sampler.h"
#include "engine/plan/program.h"
#include "engine/spec/kept_checkpoints.h"
#include "engine/train/environment.h"
#include "engine/train/schedule.h"

namespace lockstep {

// All problems of a spec in this environment, its weights file included, without opening data or devices; empty: good
// to go as far as one can tell.
std::vector<Problem> validate(const TrialSpec& spec, const Environment& environment);

inline constexpr const char* kAutoPrecision = "auto";  // the fastest for the model on its devices, as measured

struct ResolvedSpec {
    TrialSpec spec;  // devices "auto" are named
    const Backend* backend = nullptr;
    const ModelEntry* model = nullptr;
    const DatasetEntry* dataset = nullptr;
    ParamValues modelParams, datasetParams, scheduleParams, augmentationParams;
    UpdateRule update;
    std::vector<DeviceChoice> devices;
    double learningRate = 0;          // base of the schedule, by the rule of the batch
    double warmupFrom = 0;            // the share of it at which a warm-up begins
    std::vector<double> shares;       // of a batch, by rank, relative to each other; empty: equal
    std::vector<std::string> frozen;  // layers
    KeptCheckpoints kept;

    // "auto", which a run replaces before it plans (choose_precision.h), is fp32 until then; whether it measured for
    // it.
    bool isPrecisionMeasured = false;
    bool choosesPrecision() const { return spec.precision == kAutoPrecision; }
    Precision precision() const { return precisionOf(spec.precision).value_or(Precision::Fp32); }
    bool mixes() const;  // its samples are mixtures of two
};
// Does not look at the weights file, which a run that goes on has no need of: see weights.h.
Result<ResolvedSpec> resolve(const TrialSpec& spec, const Environment& environment);

// How the run divides its batches: by ranks and accumulation, or by logical shards where it is reproducible.
Partition partitionOf(const ResolvedSpec& resolved);

// What the model is built for on this dataset. Throws ProblemError "data.missing-field" where samples have no image, or
// no tokens if it reads those.
ModelInput modelInput(const ModelEntry& model, const DatasetInfo& info, std::int64_t batch, double labelSmoothing);

// The programs one rank needs. Keyed by pass sizes; ranks of equal ones share them.
struct RankPrograms {
    std::shared_ptr<const Program> training, lastTraining;  // lastTraining: the epoch's short batch; may equal training
    std::shared_ptr<const Program> evaluation, lastEvaluation;
    std::shared_ptr<const Program> writing;  // rank 0's, where the run writes text: text_writer.h
};
// Bytes of one rank's arenas. What is independent of the batch: parameters, gradients, optimizer states, averages,
// running statistics and sums of them, and what evaluations make of weights; what grows with the rank's samples; and
// the images of the dataset that it keeps.
struct MemoryUse {
    std::size_t weights = 0, activations = 0, batches = 0, dataset = 0;
    std::size_t total() const { return weights + activations + batches + dataset; }
    MemoryUse& operator+=(const MemoryUse& other);
};
struct RunPlan {
    std::vector<RankPrograms> ranks;
    std::vector<MemoryUse> memory;     // by rank
    BatchLayout batch;                 // capacity: the largest local batch
    BatchLayout window;                // of the writing program: one sequence
    std::vector<std::int64_t> shares;  // samples of a full batch, by rank
    std::int64_t keptImages = 0;       // that each device keeps: those of training, then those of the test
    std::int64_t stepsPerEpoch = 0, totalSteps = 0, parameters = 0;
    std::int64_t countedClasses = 0;  // whose answers are counted one by one; 0: of a language, or of too many
    std::string batchNorm;            // "local", "synchronised", "per shard"; "": the model has none
    std::size_t bytesPerDevice = 0;   // arenas of the hungriest rank
};
// Compiles everything a run needs; opens no device. Throws ProblemError and EngineError, the latter also when ranks
// would not do the same collectives in the same order. `algorithms`: a reproducible run chooses by rule all the same.
RunPlan planRun(const ResolvedSpec& resolved, const DatasetInfo& train, const DatasetInfo& test,
                AlgorithmChoice algorithms = AlgorithmChoice::AsTimed);

}  // namespace lockstep
