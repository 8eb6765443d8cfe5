#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "engine/spec/train_event.h"

namespace lockstep {

enum class Better { Neither, Lower, Higher };
// Share: 0 to 1, told in percent. Odds: of one in so many. The others as they are.
enum class MetricUnit { Number, Share, Nats, Odds, BitsPerByte, SamplesPerSecond, Seconds };

// Something that is measured of a run. Exactly one of step, ranks, evaluated and derive says where it comes from.
struct Metric {
    std::string_view key;    // in the history, in series and in settings, for ever: "test_accuracy"
    std::string_view name;   // in a line that names the split: "accuracy"
    std::string_view title;  // by itself: "Test accuracy"
    MetricUnit unit = MetricUnit::Number;
    Split split = Split::Train;
    Better better = Better::Neither;
    double StepDone::*step = nullptr;               // at every step
    std::vector<float> StepDone::*ranks = nullptr;  // at every step and rank; the series are "compute.0", "compute.1"…
    double EvalDone::*evaluated = nullptr;  // at every evaluation of its split; of training: of the one that chooses
    std::string_view field = {};            // its key in JSON of the event, or of an evaluation
    double (*derive)(double) = nullptr;     // follows from another, at no cost
    std::string_view from = {};             // that one's key
    bool kept = false;                      // in the rows of trials: the newest and the best
    bool noisy = false;                     // from step to step: curves are smoothed
    std::string_view task = {};             // text(ModelTask) of the only models that have it; empty: all
};

// All of them. Events, the history's series and queries, the choice of the best evaluation, pages and comparisons
// follow this list: a new metric is an entry here, a field of its event, and the place that fills it.
std::span<const Metric> metrics();
const Metric* findMetric(std::string_view key);  // null: there is none
// What an evaluation of its own comes to, of models of the task: those of the test split, the objective first.
std::vector<const Metric*> evaluationMetrics(std::string_view task);
bool isBetter(const Metric& metric, double value, double than);

// Not a number: the event does not have it, or is of another split.
double valueIn(const StepDone& step, const Metric& metric);
double valueIn(const EvalDone& evaluation, const Metric& metric);

// What counts for models of a task, of the split that chooses; task "": of an older version, as for classes.
struct TaskMetrics {
    const Metric* objective;  // of evaluations, measured: the best of it is the trial's best
    const Metric* training;   // how good the model is, for a person, at each step
    const Metric* epoch;      // over the epoch that an evaluation ends
    const Metric* quality;    // how good it is, at each evaluation
    const Metric* loss;       // likewise
    const Metric* aside;      // said behind the quality; null: nothing
};
const TaskMetrics& metricsFor(std::string_view task, Split chooses);

}  // namespace lockstep
