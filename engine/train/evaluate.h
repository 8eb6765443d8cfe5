#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/train/checkpoint.h"
#include "engine/train/evaluation_loop.h"
#include "engine/train/rank_threads.h"

namespace lockstep {

struct EvaluateRequest {
    const ResolvedSpec& resolved;  // the checkpoint's spec; its devices are those to evaluate on
    const Checkpoint& checkpoint;
    const DatasetInfo& trained;
    std::shared_ptr<const Dataset> data;                                       // asAsked() by `trained`
    bool keepsAnswers = false;                                                 // of each sample; of classifiers alone
    std::function<void(std::int64_t done, std::int64_t total)> progress = {};  // samples; rank 0's thread
    decltype(Watch::onStuck) onStuck = {};                                     // see Watch
};
struct EvaluateResult {
    MetricSums metrics;
    EvalCounts counts;                    // no classes: of a language, or of too many
    std::vector<LabelledAnswer> answers;  // by sample
    double seconds = 0;                   // of evaluating
    std::vector<Problem> unreadable;      // samples that count for nothing, with on_bad_sample=skip
    std::vector<Problem> remarks;         // Dataset::takeRemarks()
    std::optional<Problem> ofPrecision;   // precisionRemark()
};
// Each device has the whole model and takes its share of every batch, as in training, by the same programs: on the
// trial's own devices and data the result is what training said, bit by bit. No communication before the sums at the
// end. Data that do not come within the spec's timeout end it, as in training. Throws ProblemError and EngineError.
EvaluateResult evaluate(const EvaluateRequest& request);

// A reproducible run divides its batches into shards, which the number of devices must divide; to evaluate on others,
// each takes its share in one piece.
TrialSpec specToEvaluate(TrialSpec spec, const std::string& devices);
// Where a trained model is asked: by default on the trial's devices, in its precision.
struct AskedOn {
    std::string devices = {};
    std::optional<std::string> precision = {};
};
// And resolved. Where those devices do not compute in the trial's precision, and none is asked for, in f32: checkpoints
// keep f32. Problems: those of resolve().
Result<ResolvedSpec> resolveToEvaluate(const TrialSpec& trained, const AskedOn& on, const Environment& environment);
// Where that took another precision than the trial's by itself, a remark: "evaluate.other-precision".
std::optional<Problem> otherPrecision(const TrialSpec& trained, const ResolvedSpec& resolved);

}  // namespace lockstep
