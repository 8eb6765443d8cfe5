#pragma once
#include <QString>
#include <vector>

#include "engine/search/dimension.h"

namespace lockstep::ui {

class SweepForm;

// A varied setting that another one may be made to depend on: "only when the optimizer is sgd".
struct AskedSetting {
    QString path, label;
    ChoiceOfValues values;  // that it is tried with
    bool operator==(const AskedSetting&) const = default;
};

// What a varied setting may ask about: the others with some values, but for those that ask about it themselves. Of the
// choice that it belongs to, the values that have it at all; none where that says nothing. Choices first.
std::vector<AskedSetting> askableBy(const SweepForm& sweep, const QString& path);

// The one that a condition asks about, with those of its values that are no longer tried.
AskedSetting askedBy(const SweepForm& sweep, const QString& path, const DimensionCondition& condition);

}  // namespace lockstep::ui
