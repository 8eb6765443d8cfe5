#include "ui/train/sweep_form.h"

#include <QJsonDocument>
#include <algorithm>
#include <utility>

#include "engine/search/cell_count.h"
#include "engine/spec/metrics.h"
#include "ui/history/setting_text.h"
#include "ui/train/spec_form.h"
#include "ui/train/sweep_text.h"

namespace lockstep::ui {

namespace {

constexpr std::int64_t kUsualTrials = 20;

const FormField* fieldAt(const QVector<FormField>& fields, const QString& path) {
    const auto at = std::ranges::find(fields, path, &FormField::path);
    return at == fields.end() ? nullptr : &*at;
}

bool contains(const Problems& problems, const Problem& problem) {
    return std::ranges::find(problems, problem) != problems.end();
}

FormField choiceField(const FormCatalog& catalog, const QString& group) {
    FormField field;
    field.path = group;
    field.label = labelOf(group);
    field.kind = FormField::Kind::Choice;
    for (const auto& option : catalog.options(group)) field.choices << option.id;
    return field;
}

}  // namespace

SweepForm::SweepForm(SpecForm& form) : m_form(form) { connect(&form, &SpecForm::changed, this, &SweepForm::make); }

const FormState& SweepForm::state() const { return m_form.state(); }
bool SweepForm::isSweep() const { return !state().sweep.varied.isEmpty(); }
QStringList SweepForm::paths() const { return state().sweep.varied.keys(); }
bool SweepForm::isVaried(const QString& path) const { return state().sweep.varied.contains(path); }
Variation SweepForm::variation(const QString& path) const { return state().sweep.varied.value(path); }
const SweepSpec& SweepForm::plan() const { return state().sweep.plan; }

QString SweepForm::label(const QString& path) const { return field(path).label; }

void SweepForm::put(SweepDraft sweep, const QString& what, const QString& mergeKey) {
    m_form.setState({state().spec, std::move(sweep)}, what, mergeKey);
}

void SweepForm::setVaried(const QString& path, bool varied) {
    if (isVaried(path) == varied) return;
    auto sweep = state().sweep;
    const auto known = field(path);
    const auto value = m_form.value(path);
    if (varied) sweep.varied[path] = suggestedVariation(known, value.isNull() ? known.fallback : value);
    else sweep.varied.remove(path);
    put(sweep, (varied ? tr("Vary %1") : tr("Do not vary %1")).arg(known.label));
}

void SweepForm::setVariation(const QString& path, const Variation& variation, Edit edit) {
    auto next = state();
    next.sweep.varied[path] = variation;
    const bool chooses = isChoice(path.toStdString());
    if (chooses && !variation.values.isEmpty() && !variation.values.contains(m_form.value(path).toString()))
        next.spec[path] = QJsonObject{{"id", variation.values.front()}};
    m_form.setState(std::move(next), tr("Values of %1").arg(label(path)),
                    edit == Edit::Typing ? "vary " + path : QString());
}

void SweepForm::setConditions(const QString& path, std::vector<DimensionCondition> when) {
    auto sweep = state().sweep;
    sweep.varied[path].when = std::move(when);
    put(std::move(sweep), tr("Condition of %1").arg(label(path)));
}

std::vector<DimensionCondition> SweepForm::conditionsThatFollow(const QString& path) const {
    return conditionsOf(state(), m_form.catalog(), path);
}

std::vector<DimensionCondition> SweepForm::allConditions(const QString& path) const {
    return allConditionsOf(state(), m_form.catalog(), path);
}

void SweepForm::setPlan(const SweepSpec& plan, const QString& what, Edit edit) {
    auto sweep = state().sweep;
    sweep.plan = plan;
    put(std::move(sweep), what, edit == Edit::Typing ? "sweep " + what : QString());
}

void SweepForm::setMethod(const QString& method) {
    auto next = plan();
    const bool wasGrid = next.method == "grid";
    next.method = method.toStdString();
    if (method == "grid") next.trials = 0;
    else if (wasGrid && next.trials == 0) next.trials = kUsualTrials;
    setPlan(next, tr("Method of the sweep"), Edit::Single);
}

void SweepForm::setScheduler(const QString& scheduler) {
    auto next = plan();
    next.scheduler = scheduler.toStdString();
    setPlan(next, tr("When the sweep's trials stop"), Edit::Single);
}

FormField SweepForm::field(const QString& path) const {
    const auto& catalog = m_form.catalog();
    if (isChoice(path.toStdString())) return choiceField(catalog, path);
    const auto group = path.section('.', 0, 0);
    for (const auto& fields : {catalog.trial, m_form.fields(group), fieldsBeside(group)}) {
        if (const auto* known = fieldAt(fields, path)) return *known;
    }
    for (const auto& option : catalog.options(group)) {
        if (const auto* known = fieldAt(option.fields, path)) return *known;
    }
    FormField unknown;
    unknown.path = path;
    unknown.label = labelOf(path.section('.', -1));
    return unknown;
}

QVector<FormField> SweepForm::fieldsBeside(const QString& group) const {
    QVector<FormField> beside;
    if (!isVaried(group)) return beside;
    const auto own = m_form.fields(group);
    for (const QString& id : triedChoices(state(), m_form.catalog(), group)) {
        const auto* option = m_form.catalog().option(group, id);
        for (const auto& each : option ? option->fields : QVector<FormField>()) {
            if (!fieldAt(own, each.path) && !fieldAt(beside, each.path)) beside << each;
        }
    }
    return beside;
}

// What is wrong with the trial itself its fields say.
void SweepForm::make() {
    const auto before = problems();
    m_made.reset();
    m_space.reset();
    m_counts.reset();
    m_found.clear();
    m_cells = 0;
    if (isSweep()) build();
    else m_answers.clear();
    if (problems() != before) emit problemsChanged();
}

void SweepForm::build() {
    SweepSpec sweep = plan();
    const auto trial = trialSpecFromJson(QJsonDocument(state().spec).toJson(QJsonDocument::Compact).toStdString(), "");
    if (!trial.ok()) return;
    sweep.trial = trial.value();
    if (sweep.title.empty()) sweep.title = sweep.trial.title;
    addDimensions(sweep);
    addConstraints(sweep);
    if (!m_found.empty()) return;
    checkObjective(sweep);
    auto space = spaceOf(sweep);
    if (!space.ok()) m_found.insert(m_found.end(), space.problems().begin(), space.problems().end());
    if (!m_found.empty()) return;
    m_space = std::move(space).value();
    judgeCells(sweep);
    if (m_found.empty()) m_made = std::move(sweep);
}

void SweepForm::judgeCells(const SweepSpec& sweep) {
    m_cells = cellsOf(sweep, *m_space);
    m_counts = constraintCounts(sweep, *m_space);
    if (m_cells == 0)
        if (auto none = problemOfNoCells(sweep, *m_space)) m_found.push_back(std::move(*none));
}

void SweepForm::addDimensions(SweepSpec& sweep) {
    for (const QString& path : paths()) {
        auto dimension = dimensionOf(field(path), variation(path));
        if (!dimension.ok()) {
            m_found.insert(m_found.end(), dimension.problems().begin(), dimension.problems().end());
            continue;
        }
        dimension.value().when = allConditions(path);
        sweep.vary.push_back(std::move(dimension).value());
    }
}

void SweepForm::checkObjective(const SweepSpec& sweep) {
    const auto* metric = findMetric(sweep.objective);
    const auto* model = m_form.chosen("model");
    if (!metric || metric->task.empty() || !model || model->task.toStdString() == metric->task) return;
    m_found.push_back({"objective", "sweep.objective-of-another-task", {sweep.objective, model->id.toStdString()}});
}

QString SweepForm::countText(const QString& path) const {
    const auto dimension = dimensionOf(field(path), variation(path));
    if (!dimension.ok()) return tr("several values");
    const auto count = dimension.value().count();
    if (!count) return tr("any value of a range");
    return *count == 1 ? tr("1 value") : tr("%1 values").arg(*count);
}

Problems SweepForm::problems() const {
    Problems all = m_found;
    for (const auto& each : m_answers) {
        if (!contains(all, each) && !contains(m_form.problems(), each)) all.push_back(each);
    }
    return all;
}

Problems SweepForm::problemsAt(const QString& path) const {
    auto all = problems();
    std::erase_if(all, [&](const Problem& each) { return QString::fromStdString(each.field) != path; });
    return all;
}

Problems SweepForm::otherProblems() const {
    auto all = problems();
    std::erase_if(all, [&](const Problem& each) {
        const auto field = QString::fromStdString(each.field);
        return m_form.isShown(field) || constraintAt(field);
    });
    return all;
}

void SweepForm::setAnswers(Problems answers) {
    const auto before = problems();
    m_answers = std::move(answers);
    if (problems() != before) emit problemsChanged();
}

}  // namespace lockstep::ui
