#pragma once
#include <QObject>
#include <QStringList>
#include <optional>

#include "engine/search/sweep_spec.h"
#include "ui/train/form_state.h"
#include "ui/train/problem_list.h"
#include "ui/train/sweep_estimate.h"

namespace lockstep::ui {

class SpecForm;
enum class Edit;

// What makes a form's trial a sweep: settings that take several values, and how they are tried. Belongs to its
// SpecForm, whose steps of undo its changes are; up to date whenever that one says changed(). GUI thread.
class SweepForm : public QObject {
    Q_OBJECT
public:
    explicit SweepForm(SpecForm& form);

    bool isSweep() const;  // something is varied
    QStringList paths() const;
    bool isVaried(const QString& path) const;
    void setVaried(const QString& path, bool varied);  // begins with values about the present one
    Variation variation(const QString& path) const;
    // Of a choice that is varied the trial has one, so that the settings of one at least can be seen.
    void setVariation(const QString& path, const Variation& variation, Edit edit);

    // A varied setting counts only while others have some values: what a person stated, each with a value at least.
    void setConditions(const QString& path, std::vector<DimensionCondition> when);
    std::vector<DimensionCondition> conditionsThatFollow(const QString& path) const;  // from varied choices
    std::vector<DimensionCondition> allConditions(const QString& path) const;

    // What must hold between settings, as it is typed.
    const QStringList& constraints() const;
    void addConstraint();  // a blank one
    void setConstraint(int index, const QString& typed);
    void removeConstraint(int index);
    static QString constraintName(int index);  // "Constraint 1", also in problems
    // That a problem's field means, by its name or its text; the last one of what is said of all.
    std::optional<int> constraintAt(const QString& field) const;
    Problems problemsOfConstraint(int index) const;
    QString cellsMeeting(int index) const;  // "met by 18 of 27 cells" of a grid; empty: nothing to say

    const SweepSpec& plan() const;  // how: without its trial, what it varies and its constraints
    void setPlan(const SweepSpec& plan, const QString& what, Edit edit);
    void setMethod(const QString& method);  // of a grid all cells, of the others as many as is usual

    void setScheduler(const QString& scheduler);  // empty: none

    // The setting at a path: also a choice itself, and a setting that only another choice has. Unknown ones take texts.
    FormField field(const QString& path) const;
    // Settings that the trial's own choice lacks, and others have that are tried.
    QVector<FormField> fieldsBeside(const QString& group) const;

    // Empty: nothing is varied, or something is wrong with the sweep or its trial.
    const std::optional<SweepSpec>& made() const { return m_made; }
    const std::optional<SearchSpace>& space() const { return m_space; }  // of the one made
    std::int64_t cells() const { return m_cells; }                       // likewise, at most
    QString countText(const QString& path) const;                        // "3 values"

    // Its own and those of setAnswers(), without what validation says of the trial.
    Problems problems() const;
    Problems problemsAt(const QString& path) const;
    Problems otherProblems() const;     // that no field shows
    void setAnswers(Problems answers);  // what the engine says of the values

signals:
    void problemsChanged();

private:
    const FormState& state() const;
    QString label(const QString& path) const;
    void put(SweepDraft sweep, const QString& what, const QString& mergeKey = {});
    void make();
    void build();
    void addDimensions(SweepSpec& sweep);
    void addConstraints(SweepSpec& sweep);
    void putConstraints(QStringList constraints, const QString& mergeKey = {});
    void judgeCells(const SweepSpec& sweep);
    void checkObjective(const SweepSpec& sweep);

    SpecForm& m_form;
    std::optional<SweepSpec> m_made;
    std::optional<SearchSpace> m_space;
    std::int64_t m_cells = 0;
    std::optional<ConstraintCounts> m_counts;
    Problems m_found, m_answers;
};

}  // namespace lockstep::ui
