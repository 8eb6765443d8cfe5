#include "ui/train/form_state.h"

#include <QJsonDocument>
#include <algorithm>

#include "engine/spec/trial_settings.h"

namespace lockstep::ui {

namespace {

// "optimizer" of "optimizer.momentum"; empty: of a setting that belongs to no choice.
QString groupWithChoices(const QString& path) {
    const auto parts = SettingPath::from(path.toStdString());
    if (!parts || parts->isChoice() || !isChoice(parts->group)) return {};
    return QString::fromStdString(parts->group);
}

bool hasSetting(const FormOption& option, const QString& path) {
    return std::ranges::any_of(option.fields, [&](const FormField& each) { return each.path == path; });
}

// Whatever the order of the values.
bool isSame(const DimensionCondition& a, const DimensionCondition& b) {
    return a.path == b.path && std::ranges::is_permutation(a.values, b.values);
}

}  // namespace

FormState stateOf(const SweepSpec& sweep, const FormCatalog& catalog) {
    FormState state{QJsonDocument::fromJson(QByteArray::fromStdString(toJson(sweep.trial))).object(), draftOf(sweep)};
    for (const QString& path : state.sweep.varied.keys()) {
        const auto follow = conditionsOf(state, catalog, path);
        std::erase_if(state.sweep.varied[path].when, [&](const DimensionCondition& each) {
            return std::ranges::any_of(follow, [&](const auto& other) { return isSame(each, other); });
        });
    }
    return state;
}

QString choiceIn(const FormState& state, const FormCatalog& catalog, const QString& group) {
    const auto choice = state.spec.contains(group) ? state.spec[group] : catalog.defaults[group];
    return choice.isString() ? choice.toString() : choice.toObject()["id"].toString();
}

QStringList triedChoices(const FormState& state, const FormCatalog& catalog, const QString& group) {
    const auto varied = state.sweep.varied.find(group);
    if (varied == state.sweep.varied.end()) return {choiceIn(state, catalog, group)};
    return varied->values;
}

std::vector<DimensionCondition> conditionsOf(const FormState& state, const FormCatalog& catalog, const QString& path) {
    const auto group = groupWithChoices(path);
    if (group.isEmpty() || !state.sweep.varied.contains(group)) return {};
    const auto tried = triedChoices(state, catalog, group);
    ChoiceOfValues having;
    for (const QString& id : tried) {
        const auto* option = catalog.option(group, id);
        if (option && hasSetting(*option, path)) having.push_back(id.toStdString());
    }
    if (having.empty() || std::ssize(having) == tried.size()) return {};
    return {{group.toStdString(), std::move(having)}};
}

std::vector<DimensionCondition> allConditionsOf(const FormState& state, const FormCatalog& catalog,
                                                const QString& path) {
    auto all = state.sweep.varied.value(path).when;
    for (auto& each : conditionsOf(state, catalog, path)) {
        if (std::ranges::find(all, each.path, &DimensionCondition::path) == all.end()) all.push_back(std::move(each));
    }
    return all;
}

// What the catalog does not know may be a setting of it: the engine says.
SweepDraft withoutOrphans(const FormState& state, const FormCatalog& catalog) {
    SweepDraft kept = state.sweep;
    for (const QString& path : state.sweep.varied.keys()) {
        const auto group = groupWithChoices(path);
        if (group.isEmpty()) continue;
        const auto mayHave = [&](const QString& id) {
            const auto* option = catalog.option(group, id);
            return !option || hasSetting(*option, path);
        };
        const auto tried = triedChoices(state, catalog, group);
        if (!tried.isEmpty() && std::ranges::none_of(tried, mayHave)) kept.varied.remove(path);
    }
    return kept;
}

}  // namespace lockstep::ui
