#pragma once
#include <QJsonObject>
#include <QString>
#include <QStringList>

#include "ui/train/form_catalog.h"
#include "ui/train/sweep_draft.h"

namespace lockstep::ui {

// All that a person has put into the form, and what a step of undo goes back to: a trial, and what a sweep varies of
// it.
struct FormState {
    QJsonObject spec;
    SweepDraft sweep;
    bool operator==(const FormState&) const = default;
};
// Without conditions that follow from the choices that it varies.
FormState stateOf(const SweepSpec& sweep, const FormCatalog& catalog);

// The id that the trial has of a group ("optimizer"), or that holds where it says none.
QString choiceIn(const FormState& state, const FormCatalog& catalog, const QString& group);
// The ids that are tried of a group: those varied, or the trial's own.
QStringList triedChoices(const FormState& state, const FormCatalog& catalog, const QString& group);

// Under which choices a setting counts: "optimizer.momentum" while only some of the optimizers tried have one. Empty:
// under all that are tried.
std::vector<DimensionCondition> conditionsOf(const FormState& state, const FormCatalog& catalog, const QString& path);
// All under which it counts: what a person stated, and what follows where nothing narrower was stated.
std::vector<DimensionCondition> allConditionsOf(const FormState& state, const FormCatalog& catalog,
                                                const QString& path);

// Without what is varied of choices that are not tried any more.
SweepDraft withoutOrphans(const FormState& state, const FormCatalog& catalog);

}  // namespace lockstep::ui
