#pragma once
#include <QString>
#include <QVector>
#include <optional>
#include <vector>

#include "engine/search/sweep_spec.h"
#include "ui/train/sweep_estimate.h"

namespace lockstep::ui {

// What the button says: "Start sweep: 27 trials × 3 seeds, about 40 min".
QString sweepStartText(std::int64_t cells, std::int64_t repeats, std::optional<double> seconds);
QString roughDuration(double seconds);  // "about 40 min", "about 2 h 10 min", "about 3 days"

// By what the best of a sweep is chosen, and what that is worth. `ownValidation`: samples that the data have for it;
// empty: nobody knows yet.
QString choosingText(double validationShare, std::optional<std::int64_t> ownValidation);

// What a person may choose from: the engine's word, empty for none, its name, and a sentence of what it does.
struct SweepChoice {
    QString id, name, help;
};
QVector<SweepChoice> sweepMethods();  // the usual one first, here and below
QVector<SweepChoice> sweepSchedulers();
QString choiceHelp(const QVector<SweepChoice>& choices);

// What a scheduler comes to: "About 63 of 243 epochs …", and its rungs, as a table of rich text and in a sentence.
QString rungShareText(const RungEstimate& estimate, std::int64_t repeats);
QString rungPlanTable(const std::vector<RungPlan>& plan);
QString rungPlanSpoken(const std::vector<RungPlan>& plan);

QString rangeText(const Dimension& dimension);           // "log 0.001 … 1, 4 points", "64, 128, 256"
QString valuesText(const ChoiceOfValues& values);        // "64, 128, 256"
QString alternativesText(const ChoiceOfValues& values);  // "sgd or lars"
QString conditionText(const QString& setting, const ChoiceOfValues& values);  // "only when Batch is 64 or 128"
QString meetingText(std::int64_t meeting, std::int64_t cells);                // "met by 18 of 27 cells"

}  // namespace lockstep::ui
