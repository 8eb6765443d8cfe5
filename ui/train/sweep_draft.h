#pragma once
#include <QMap>
#include <QString>
#include <QStringList>
#include <vector>

#include "engine/search/sweep_spec.h"
#include "ui/train/form_catalog.h"

namespace lockstep::ui {

// How a person varies one setting, as far as it is typed: its texts may be no numbers yet.
struct Variation {
    bool isRange = false;  // of numbers; otherwise one value after the other
    QString from, to;
    bool isLog = false;
    QString spacing;                       // empty: all numbers between count
    bool isStep = false;                   // what `spacing` is; otherwise a number of points
    QStringList values;                    // also ids of choices; "true", "false"
    std::vector<DimensionCondition> when;  // what a person stated: without those that follow from varied choices
    bool operator==(const Variation&) const = default;
};

// What makes a trial's form that of a sweep.
struct SweepDraft {
    QMap<QString, Variation> varied;  // by path; empty: no sweep
    QStringList constraints;          // as they are typed; blank ones say nothing
    SweepSpec plan = usualPlan();     // all but its trial, what it varies, and its constraints
    bool operator==(const SweepDraft&) const = default;
    static SweepSpec usualPlan();  // the whole grid
};

// What a variation of a setting means. Problems, at the setting's path: "spec.wrong-type", "spec.out-of-range" of a
// number of points, and those of check().
Result<Dimension> dimensionOf(const FormField& field, const Variation& variation);

// Where a person may begin who varies a setting: some values about the present one, within the setting's range.
Variation suggestedVariation(const FormField& field, const QJsonValue& value);
// The other way of stating it, as near to the same as can be.
Variation asRange(Variation variation, bool isRange);

// Values that were typed behind each other: numbers between commas, texts between semicolons, for they have commas.
QStringList valuesIn(const FormField& field, const QString& typed);
QString typedValues(const FormField& field, const QStringList& values);

// A sweep as a person would have typed it, with all of its conditions.
SweepDraft draftOf(const SweepSpec& sweep);

}  // namespace lockstep::ui
