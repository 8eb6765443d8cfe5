#include "engine/spec/metrics.h"

#include <algorithm>
#include <array>
#include <limits>

#include "engine/core/error.h"
#include "engine/spec/perplexity.h"

namespace lockstep {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

using Unit = MetricUnit;

constexpr Metric ofStep(std::string_view key, std::string_view name, std::string_view title, Unit unit, Better better,
                        double StepDone::*at, bool noisy = true) {
    return {.key = key,
            .name = name,
            .title = title,
            .unit = unit,
            .better = better,
            .step = at,
            .field = key,
            .noisy = noisy};
}

constexpr Metric ofRank(std::string_view key, std::string_view title, std::vector<float> StepDone::*at) {
    return {.key = key,
            .name = key,
            .title = title,
            .unit = Unit::Seconds,
            .better = Better::Lower,
            .ranks = at,
            .field = key};
}

constexpr Metric ofEvaluation(std::string_view key, std::string_view name, std::string_view title, Unit unit,
                              Split split, Better better, double EvalDone::*at, std::string_view field,
                              bool kept = false) {
    return {.key = key,
            .name = name,
            .title = title,
            .unit = unit,
            .split = split,
            .better = better,
            .evaluated = at,
            .field = field,
            .kept = kept};
}

constexpr Metric ofText(std::string_view key, std::string_view name, std::string_view title, Unit unit, Split split,
                        std::string_view from, double (*derive)(double), std::string_view field) {
    return {.key = key,
            .name = name,
            .title = title,
            .unit = unit,
            .split = split,
            .better = Better::Lower,
            .field = field,
            .derive = derive,
            .from = from,
            .task = kNextTokens};
}

constexpr std::array kMetrics = {
    ofStep("loss", "loss", "Training loss of each step", Unit::Nats, Better::Lower, &StepDone::loss),
    ofStep("accuracy", "accuracy", "Training accuracy of each step", Unit::Share, Better::Higher, &StepDone::accuracy),
    ofStep("learning_rate", "learning rate", "Learning rate", Unit::Number, Better::Neither, &StepDone::learningRate,
           false),
    ofStep("gradient_norm", "gradient norm", "Gradient norm", Unit::Number, Better::Neither, &StepDone::gradientNorm),
    ofStep("samples_per_second", "samples per second", "Samples per second", Unit::SamplesPerSecond, Better::Higher,
           &StepDone::samplesPerSecond),
    ofStep("loading_rate", "loading rate", "Samples per second that loading could make", Unit::SamplesPerSecond,
           Better::Higher, &StepDone::loadingRate),
    ofStep("training_rate", "training rate", "Samples per second that training could take", Unit::SamplesPerSecond,
           Better::Higher, &StepDone::trainingRate),
    ofRank("compute", "Computing", &StepDone::compute),
    ofRank("reduce", "Summing gradients", &StepDone::reduce),
    ofRank("wait", "Waiting for samples", &StepDone::wait),
    ofEvaluation("test_accuracy", "accuracy", "Test accuracy", Unit::Share, Split::Test, Better::Higher,
                 &EvalDone::accuracy, "accuracy", true),
    ofEvaluation("test_accuracy5", "accuracy of five guesses", "Test accuracy of five guesses", Unit::Share,
                 Split::Test, Better::Higher, &EvalDone::accuracy5, "accuracy5"),
    ofEvaluation("test_loss", "loss", "Test loss", Unit::Nats, Split::Test, Better::Lower, &EvalDone::loss, "loss",
                 true),
    ofEvaluation("train_accuracy", "accuracy", "Training accuracy", Unit::Share, Split::Train, Better::Higher,
                 &EvalDone::trainAccuracy, "train_accuracy"),
    ofEvaluation("train_loss", "loss", "Training loss", Unit::Nats, Split::Train, Better::Lower, &EvalDone::trainLoss,
                 "train_loss"),
    ofEvaluation("validation_accuracy", "accuracy", "Validation accuracy", Unit::Share, Split::Validation,
                 Better::Higher, &EvalDone::accuracy, "accuracy", true),
    ofEvaluation("validation_accuracy5", "accuracy of five guesses", "Validation accuracy of five guesses", Unit::Share,
                 Split::Validation, Better::Higher, &EvalDone::accuracy5, "accuracy5"),
    ofEvaluation("validation_loss", "loss", "Validation loss", Unit::Nats, Split::Validation, Better::Lower,
                 &EvalDone::loss, "loss", true),
    ofText("perplexity", "perplexity", "Training perplexity of each step", Unit::Odds, Split::Train, "loss",
           &perplexity, "perplexity"),
    ofText("train_perplexity", "perplexity", "Training perplexity", Unit::Odds, Split::Train, "train_loss", &perplexity,
           "perplexity"),
    ofText("validation_perplexity", "perplexity", "Validation perplexity", Unit::Odds, Split::Validation,
           "validation_loss", &perplexity, "perplexity"),
    ofText("validation_bits_per_byte", "bits per byte", "Validation bits per byte", Unit::BitsPerByte,
           Split::Validation, "validation_loss", &bitsPerByte, "bits_per_byte"),
    ofText("test_perplexity", "perplexity", "Test perplexity", Unit::Odds, Split::Test, "test_loss", &perplexity,
           "perplexity"),
    ofText("test_bits_per_byte", "bits per byte", "Test bits per byte", Unit::BitsPerByte, Split::Test, "test_loss",
           &bitsPerByte, "bits_per_byte"),
};

const Metric& known(std::string_view key) {
    if (const Metric* metric = findMetric(key)) return *metric;
    throw EngineError(EngineError::Kind::Internal, std::string(key), "a metric that no list has is asked for");
}

double derived(const auto& event, const Metric& metric) {
    return metric.derive ? metric.derive(valueIn(event, known(metric.from))) : kNone;
}

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }

const Metric* findMetric(std::string_view key) {
    const auto found = std::ranges::find(kMetrics, key, &Metric::key);
    return found == kMetrics.end() ? nullptr : &*found;
}

std::vector<const Metric*> evaluationMetrics(std::string_view task) {
    const Metric* const objective = metricsFor(task, Split::Test).objective;
    std::vector<const Metric*> all{objective};
    for (const Metric& each : kMetrics) {
        const bool isEvaluated = (each.evaluated || each.derive) && each.split == Split::Test;
        if (isEvaluated && &each != objective && (each.task.empty() || each.task == task)) all.push_back(&each);
    }
    return all;
}

bool isBetter(const Metric& metric, double value, double than) {
    return metric.better == Better::Higher ? value > than : metric.better == Better::Lower && value < than;
}

double valueIn(const StepDone& step, const Metric& metric) {
    return metric.step ? step.*metric.step : derived(step, metric);
}

double valueIn(const EvalDone& evaluation, const Metric& metric) {
    if (!metric.evaluated) return derived(evaluation, metric);
    const bool has = metric.split == Split::Train || metric.split == evaluation.split;
    return has ? evaluation.*metric.evaluated : kNone;
}

const TaskMetrics& metricsFor(std::string_view task, Split chooses) {
    static const auto ofTexts = [](const std::string& split) {
        return TaskMetrics{&known(split + "_loss"),       &known("perplexity"),    &known("train_perplexity"),
                           &known(split + "_perplexity"), &known(split + "_loss"), &known(split + "_bits_per_byte")};
    };
    static const auto ofClasses = [](const std::string& split) {
        return TaskMetrics{&known(split + "_accuracy"), &known("accuracy"),      &known("train_accuracy"),
                           &known(split + "_accuracy"), &known(split + "_loss"), nullptr};
    };
    static const TaskMetrics texts[] = {ofTexts("validation"), ofTexts("test")};
    static const TaskMetrics classes[] = {ofClasses("validation"), ofClasses("test")};
    const std::size_t which = chooses == Split::Validation ? 0 : 1;
    return task == kNextTokens ? texts[which] : classes[which];
}

}  // namespace lockstep
