#include "ui/train/asked_settings.h"

#include <QSet>
#include <algorithm>
#include <optional>

#include "engine/spec/trial_settings.h"
#include "ui/train/sweep_form.h"

namespace lockstep::ui {

namespace {

constexpr std::int64_t kMostAskedValues = 50;  // to choose from

// None: it has too many, or is not understood yet.
ChoiceOfValues triedValues(const SweepForm& sweep, const QString& path) {
    const auto dimension = dimensionOf(sweep.field(path), sweep.variation(path));
    const auto count = dimension.ok() ? dimension.value().count() : std::nullopt;
    ChoiceOfValues values;
    for (std::int64_t i = 0; i < count.value_or(0) && *count <= kMostAskedValues; ++i)
        values.push_back(dimension.value().value(i));
    return values;
}

// By itself or by others between; also where that follows from varied choices.
bool asksAbout(const SweepForm& sweep, const QString& path, const QString& about, QSet<QString> seen = {}) {
    if (path == about) return true;
    if (seen.contains(path)) return false;
    seen << path;
    const auto when = sweep.isVaried(path) ? sweep.allConditions(path) : std::vector<DimensionCondition>();
    return std::ranges::any_of(when, [&](const DimensionCondition& each) {
        return asksAbout(sweep, QString::fromStdString(each.path), about, seen);
    });
}

bool isChoiceOf(const QString& group, const QString& path) {
    const auto parts = SettingPath::from(path.toStdString());
    return parts && !parts->isChoice() && isChoice(parts->group) && parts->group == group.toStdString();
}

ChoiceOfValues askableValues(const SweepForm& sweep, const QString& path, const QString& about) {
    const auto own = sweep.conditionsThatFollow(path);
    if (!isChoiceOf(about, path) || own.empty()) return triedValues(sweep, about);
    return own.front().values.size() > 1 ? own.front().values : ChoiceOfValues();
}

}  // namespace

std::vector<AskedSetting> askableBy(const SweepForm& sweep, const QString& path) {
    std::vector<AskedSetting> all;
    for (const QString& about : sweep.paths()) {
        if (asksAbout(sweep, about, path)) continue;
        auto values = askableValues(sweep, path, about);
        if (!values.empty()) all.push_back({about, sweep.field(about).label, std::move(values)});
    }
    std::ranges::stable_partition(all, [](const AskedSetting& each) { return isChoice(each.path.toStdString()); });
    return all;
}

AskedSetting askedBy(const SweepForm& sweep, const QString& path, const DimensionCondition& condition) {
    const auto about = QString::fromStdString(condition.path);
    AskedSetting asked{about, sweep.field(about).label, {}};
    if (sweep.isVaried(about)) asked.values = askableValues(sweep, path, about);
    for (const ParamValue& each : condition.values) {
        if (std::ranges::find(asked.values, each) == asked.values.end()) asked.values.push_back(each);
    }
    return asked;
}

}  // namespace lockstep::ui
