#include "ui/evaluate/evaluation_text.h"

#include <QCoreApplication>
#include <cmath>

#include "engine/spec/kept_checkpoints.h"
#include "engine/spec/metrics.h"
#include "engine/spec/trial_spec.h"
#include "ui/plot/run_text.h"
#include "ui/style/plain_text.h"

namespace lockstep::ui {

namespace {

struct EvaluationText {
    Q_DECLARE_TR_FUNCTIONS(EvaluationText)
};

std::optional<ConfusionMatrix> matrixOf(const EvalCounts* counts) {
    if (!counts || counts->classes == 0) return std::nullopt;
    const auto matrix = ConfusionMatrix::from(*counts);
    return matrix.ok() ? std::optional(matrix.value()) : std::nullopt;
}

QString samplesText(std::int64_t count) {
    return count == 1 ? EvaluationText::tr("one sample")
                      : EvaluationText::tr("%1 samples").arg(runCount(static_cast<double>(count)));
}

// "10,000 samples in bf16", where that is known.
QString inPrecision(const QString& samples, const Evaluation& evaluation) {
    if (evaluation.precision.empty()) return samples;
    return EvaluationText::tr("%1 in %2").arg(samples, QString::fromStdString(evaluation.precision));
}

QStringList figuresOf(const Evaluation& evaluation, std::string_view task) {
    QStringList figures{inPrecision(samplesText(evaluation.samples), evaluation)};
    for (const Metric* each : metricsOf(evaluation, task))
        figures << runMetric(*each, valueIn(resultOf(evaluation), *each));
    if (const auto files = evaluation.counts.leftOut; files > 0)
        figures.insert(1, files == 1
                              ? EvaluationText::tr("one file left out")
                              : EvaluationText::tr("%1 files left out").arg(runCount(static_cast<double>(files))));
    return figures;
}

// "2026-11-25 10:00"
QString momentOf(const Evaluation& evaluation) {
    return QString::fromStdString(evaluation.createdAt).left(16).replace('T', ' ');
}

QStringList figuresOf(const ConfusionMatrix& matrix) {
    if (matrix.total() == 0) return {};
    const auto total = static_cast<double>(matrix.total());
    return {samplesText(matrix.total()),
            EvaluationText::tr("accuracy %1").arg(runPercent(static_cast<double>(matrix.correct()) / total))};
}

}  // namespace

QStringList figuresOf(const Evaluation* evaluation, const EvalCounts* counts, std::string_view task) {
    const auto matrix = matrixOf(counts);
    QStringList figures;
    if (evaluation) figures = figuresOf(*evaluation, task);
    else if (matrix) figures = figuresOf(*matrix);
    const double error = matrix ? expectedCalibrationError(calibration(*counts)) : std::nan("");
    if (std::isfinite(error)) figures << EvaluationText::tr("calibration error %1").arg(runPercent(error));
    return figures;
}

QStringList lossFigures(double loss, std::string_view task) {
    const EvalDone result{.loss = loss};
    QStringList figures;
    for (const Metric* each : evaluationMetrics(task)) {
        const bool isOfLoss = each->derive || each->evaluated == &EvalDone::loss;
        if (isOfLoss) figures << runMetric(*each, valueIn(result, *each));
    }
    return figures;
}

QString changedText(const Evaluation* shown, const TrialEvaluations& found) {
    if (!found.spec) return {};
    const auto& trained = found.known.fingerprint;
    if (const auto* since = shown ? changedSince(*shown, found.evaluations) : nullptr)
        return EvaluationText::tr(
                   "The data have changed since this evaluation: that of %1 UTC was asked about other samples.")
            .arg(momentOf(*since));
    if (shown && askedOthers(*shown, trained, *found.spec))
        return EvaluationText::tr("The data have changed since the training: these samples are others than it had.");
    if (const auto* since = shown ? nullptr : changedSinceTraining(trained, *found.spec, found.evaluations))
        return EvaluationText::tr(
                   "The data have changed since the training: the evaluation of %1 UTC was asked about other samples.")
            .arg(momentOf(*since));
    return {};
}

QString nameOf(const Evaluation& evaluation) {
    const QString samples =
        EvaluationText::tr("%1 of %2")
            .arg(QString::fromStdString(evaluation.split), oneLine(dataText(evaluation.dataset, evaluation.data)));
    const QString checkpoint = evaluation.checkpoint == kLast   ? EvaluationText::tr("Last checkpoint")
                               : evaluation.checkpoint == kBest ? EvaluationText::tr("Best checkpoint")
                                                                : EvaluationText::tr("Checkpoint");
    return EvaluationText::tr("%1, epoch %2, %3, %4 UTC")
        .arg(checkpoint, QString::number(evaluation.epoch), inPrecision(samples, evaluation), momentOf(evaluation));
}

}  // namespace lockstep::ui
