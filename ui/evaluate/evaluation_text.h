#pragma once
#include <QString>
#include <QStringList>

#include "engine/spec/evaluation.h"
#include "ui/history/history_service.h"

namespace lockstep::ui {

// The figures of an evaluation, each with its name: "accuracy 91.2 %". `evaluation`: the one that was asked for; null:
// an epoch's of training, of which the counts alone are known. `counts`: null where there are none. `task`: of the
// model, text(ModelTask).
QStringList figuresOf(const Evaluation* evaluation, const EvalCounts* counts, std::string_view task);
// What a mean loss comes to: "loss 1.23", and of a language model "perplexity 3.421", "1.775 bits per byte".
QStringList lossFigures(double loss, std::string_view task);
// That the data have changed since what is shown, in a sentence; empty: they have not, as far as the trial's
// evaluations tell. `shown`: the one that was asked for; null: an epoch's of training.
QString changedText(const Evaluation* shown, const TrialEvaluations& found);
// "Best checkpoint, epoch 3, test of fashion-mnist, 2026-11-25 10:00 UTC"
QString nameOf(const Evaluation& evaluation);

}  // namespace lockstep::ui
