#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/core/data_fingerprint.h"
#include "engine/core/result.h"
#include "engine/spec/metrics.h"
#include "engine/spec/train_event.h"

namespace lockstep {

struct TrialSpec;

// What a classifier says of one sample: its likeliest classes, the likeliest first, equal ones in their order; fewer
// than five of a model of fewer, -1 behind them. Probabilities are the softmax of the logits.
struct Answer {
    static constexpr std::size_t kClasses = 5;
    std::array<std::int32_t, kClasses> classes{-1, -1, -1, -1, -1};
    std::array<float, kClasses> probabilities{};
    bool operator==(const Answer&) const = default;
};
// And what it is. Class -1 of a sample without an answer, or that was not evaluated.
struct LabelledAnswer {
    std::int32_t label = -1;
    Answer answer;
    bool operator==(const LabelledAnswer&) const = default;
};

// What somebody asked of a checkpoint after training, as the history keeps it.
struct Evaluation {
    std::int64_t id = 0, trial = 0;
    std::string createdAt;             // UTC, ISO 8601
    std::string checkpoint;            // its role: "best", "last"
    std::int64_t step = 0, epoch = 0;  // where it stands
    std::string data, split, devices;  // the dataset's path or id; "test", "train", "all"
    std::string dataset;               // its id; empty: of before it was kept
    std::int64_t samples = 0;
    double seconds = 0;                             // of evaluating
    double loss = 0, accuracy = 0, accuracy5 = -1;  // accuracy5 < 0: not counted
    EvalCounts counts;                              // of no classes: not counted
    std::vector<LabelledAnswer> answers = {};       // by sample
    // Of the whole dataset as it was then; empty: of before it was kept, or it cannot be told.
    std::optional<DataFingerprint> fingerprint = {};
    std::string precision = {};  // that it was computed in; empty: of before it was kept
};

// What it came to, as a run's own evaluation would tell it, for metrics.h: of the test split, whichever was asked
// about.
EvalDone resultOf(const Evaluation& evaluation);
std::vector<const Metric*> metricsOf(const Evaluation& evaluation, std::string_view task);  // those that it has

// Of evaluations, newest first: the newest of the same data, where the samples that `evaluation` was asked about were
// others by then. Null: they were the same, or nobody knows.
const Evaluation* changedSince(const Evaluation& evaluation, std::span<const Evaluation> newestFirst);
// Likewise since a training on `trained`, the fingerprint of the data of `spec`: of any of its samples.
const Evaluation* changedSinceTraining(const std::optional<DataFingerprint>& trained, const TrialSpec& spec,
                                       std::span<const Evaluation> newestFirst);
// Whether this one was asked about other samples of the data of `spec` than that training had. False also where nobody
// knows.
bool askedOthers(const Evaluation& evaluation, const std::optional<DataFingerprint>& trained, const TrialSpec& spec);

// Of models with more classes nothing is counted class by class.
constexpr std::int64_t kMostCountedClasses = 1000;

// How often samples of each class were taken for each class. Counts, row-major: a row per true class, a column per
// answer, the class with the largest logit.
class ConfusionMatrix {
public:
    explicit ConfusionMatrix(std::int64_t classes);
    // Problems: "event.bad-field", naming what does not fit.
    static Result<ConfusionMatrix> from(const EvalCounts& counts);

    std::int64_t classes() const { return m_classes; }
    std::int64_t& at(std::int64_t label, std::int64_t answer) { return m_counts[place(label, answer)]; }
    std::int64_t at(std::int64_t label, std::int64_t answer) const { return m_counts[place(label, answer)]; }
    std::int64_t ofClass(std::int64_t label) const;    // samples of the class
    std::int64_t answered(std::int64_t answer) const;  // samples that were taken for it
    std::int64_t total() const;
    std::int64_t correct() const;
    // The cells off the diagonal that are not empty, the fullest first; equal ones in the order of the rows.
    struct Cell {
        std::int64_t label = 0, answer = 0, count = 0;
        bool operator==(const Cell&) const = default;
    };
    std::vector<Cell> confusions() const;

private:
    std::size_t place(std::int64_t label, std::int64_t answer) const {
        return static_cast<std::size_t>(label * m_classes + answer);
    }

    std::int64_t m_classes;
    std::vector<std::int64_t> m_counts;
};

// How well a class is told from the others. Not a number: there is nothing to divide by, no sample of the class
// (recall) or no such answer (precision).
struct ClassScore {
    std::int64_t samples = 0;
    double precision = 0, recall = 0, f1 = 0;
};
std::vector<ClassScore> classScores(const ConfusionMatrix& matrix);
// Means over the classes of which there are samples; a precision that is no number counts as 0.
ClassScore macroAverage(std::span<const ClassScore> scores);

// Whether a model is as sure as it is right. A bin has the answers whose confidence, the largest probability, lies in
// (b/15, (b+1)/15].
struct CalibrationBin {
    std::int64_t samples = 0;
    double confidence = 0, accuracy = 0;  // means over them
};
std::vector<CalibrationBin> calibration(const EvalCounts& counts);
// The expected calibration error: Guo et al., "On Calibration of Modern Neural Networks", arXiv 1706.04599, section 2.
// Not a number without samples.
double expectedCalibrationError(std::span<const CalibrationBin> bins);

}  // namespace lockstep
