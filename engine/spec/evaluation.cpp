#include "engine/spec/evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/spec/data_known.h"
#include "engine/spec/trial_spec.h"

namespace lockstep {

namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

double share(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : kUndefined;
}

// Of these data, and of which is known what they were.
const Evaluation* newestOf(const std::string& dataset, const std::string& data,
                           std::span<const Evaluation> newestFirst) {
    const auto found = std::ranges::find_if(newestFirst, [&](const Evaluation& each) {
        return each.fingerprint && each.dataset == dataset && each.data == data;
    });
    return found == newestFirst.end() ? nullptr : &*found;
}

}  // namespace

EvalDone resultOf(const Evaluation& evaluation) {
    EvalDone result;
    result.samples = evaluation.samples;
    result.loss = evaluation.loss;
    result.accuracy = evaluation.accuracy, result.accuracy5 = evaluation.accuracy5;
    return result;
}

std::vector<const Metric*> metricsOf(const Evaluation& evaluation, std::string_view task) {
    auto known = evaluationMetrics(task);
    const auto isFive = [](const Metric* each) { return each->evaluated == &EvalDone::accuracy5; };
    if (evaluation.accuracy5 < 0) std::erase_if(known, isFive);
    return known;
}

const Evaluation* changedSince(const Evaluation& evaluation, std::span<const Evaluation> newestFirst) {
    const Evaluation* newest = newestOf(evaluation.dataset, evaluation.data, newestFirst);
    if (!evaluation.fingerprint || !newest || newest->id <= evaluation.id) return nullptr;
    return changedSplits(*evaluation.fingerprint, *newest->fingerprint, evaluation.split).empty() ? nullptr : newest;
}

const Evaluation* changedSinceTraining(const std::optional<DataFingerprint>& trained, const TrialSpec& spec,
                                       std::span<const Evaluation> newestFirst) {
    const Evaluation* newest = newestOf(spec.dataset.id, dataName(spec), newestFirst);
    return !trained || !newest || changedSplits(*trained, *newest->fingerprint).empty() ? nullptr : newest;
}

bool askedOthers(const Evaluation& evaluation, const std::optional<DataFingerprint>& trained, const TrialSpec& spec) {
    return trained && newestOf(spec.dataset.id, dataName(spec), {&evaluation, 1}) &&
           !changedSplits(*trained, *evaluation.fingerprint, evaluation.split).empty();
}

ConfusionMatrix::ConfusionMatrix(std::int64_t classes)
    : m_classes(classes), m_counts(static_cast<std::size_t>(classes * classes)) {}

Result<ConfusionMatrix> ConfusionMatrix::from(const EvalCounts& counts) {
    const auto bad = [](const char* field) { return Problem{field, "event.bad-field", {field}}; };
    if (counts.classes < 1 || counts.classes > kMostCountedClasses) return bad("classes");
    if (counts.cells.size() % 3 != 0) return bad("cells");
    ConfusionMatrix matrix(counts.classes);
    const auto isClass = [&](std::int64_t id) { return id >= 0 && id < counts.classes; };
    for (std::size_t i = 0; i < counts.cells.size(); i += 3) {
        const std::int64_t label = counts.cells[i], answer = counts.cells[i + 1], count = counts.cells[i + 2];
        if (!isClass(label) || !isClass(answer) || count < 0) return bad("cells");
        matrix.at(label, answer) = count;
    }
    return matrix;
}

std::int64_t ConfusionMatrix::ofClass(std::int64_t label) const {
    const auto row = m_counts.begin() + label * m_classes;
    return std::accumulate(row, row + m_classes, std::int64_t{0});
}

std::int64_t ConfusionMatrix::answered(std::int64_t answer) const {
    std::int64_t sum = 0;
    for (std::int64_t label = 0; label < m_classes; ++label) sum += at(label, answer);
    return sum;
}

std::int64_t ConfusionMatrix::total() const {
    return std::accumulate(m_counts.begin(), m_counts.end(), std::int64_t{0});
}

std::int64_t ConfusionMatrix::correct() const {
    std::int64_t sum = 0;
    for (std::int64_t label = 0; label < m_classes; ++label) sum += at(label, label);
    return sum;
}

std::vector<ConfusionMatrix::Cell> ConfusionMatrix::confusions() const {
    std::vector<Cell> cells;
    for (std::int64_t label = 0; label < m_classes; ++label) {
        for (std::int64_t answer = 0; answer < m_classes; ++answer) {
            if (answer != label && at(label, answer) > 0) cells.push_back({label, answer, at(label, answer)});
        }
    }
    std::ranges::stable_sort(cells, std::ranges::greater(), &Cell::count);
    return cells;
}

std::vector<ClassScore> classScores(const ConfusionMatrix& matrix) {
    std::vector<ClassScore> scores;
    for (std::int64_t each = 0; each < matrix.classes(); ++each) {
        const std::int64_t hits = matrix.at(each, each), samples = matrix.ofClass(each);
        const std::int64_t answered = matrix.answered(each);
        scores.push_back({samples, share(hits, answered), share(hits, samples), share(2 * hits, samples + answered)});
    }
    return scores;
}

ClassScore macroAverage(std::span<const ClassScore> scores) {
    ClassScore mean;
    double classes = 0;
    for (const ClassScore& each : scores) {
        if (each.samples == 0) continue;
        ++classes;
        mean.samples += each.samples;
        mean.precision += std::isnan(each.precision) ? 0 : each.precision;
        mean.recall += each.recall;
        mean.f1 += each.f1;
    }
    for (double* value : {&mean.precision, &mean.recall, &mean.f1})
        *value = classes > 0 ? *value / classes : kUndefined;
    return mean;
}

std::vector<CalibrationBin> calibration(const EvalCounts& counts) {
    std::vector<CalibrationBin> bins(
        std::min({counts.binSamples.size(), counts.binCorrect.size(), counts.binConfidence.size()}));
    for (std::size_t i = 0; i < bins.size(); ++i) {
        const std::int64_t samples = counts.binSamples[i];
        bins[i] = {samples, samples > 0 ? counts.binConfidence[i] / static_cast<double>(samples) : kUndefined,
                   share(counts.binCorrect[i], samples)};
    }
    return bins;
}

double expectedCalibrationError(std::span<const CalibrationBin> bins) {
    double error = 0, samples = 0;
    for (const CalibrationBin& bin : bins) {
        if (bin.samples == 0) continue;
        error += static_cast<double>(bin.samples) * std::abs(bin.accuracy - bin.confidence);
        samples += static_cast<double>(bin.samples);
    }
    return samples > 0 ? error / samples : kUndefined;
}

}  // namespace lockstep
