#pragma once
#include <QWidget>

#include "ui/train/field_editor.h"
#include "ui/train/form_answers.h"
#include "ui/train/sweep_text.h"

namespace lockstep::ui {

// How a sweep tries what is varied, and by what its best is chosen. Hidden while nothing is varied. GUI thread.
class SweepSettingsCard : public QWidget {
    Q_OBJECT
public:
    SweepSettingsCard(SpecForm& form, FormAnswers& answers, const Explain& explain, QWidget* parent = nullptr);

private:
    QWidget* makePlan();
    QWidget* makeStopping();
    QWidget* makeRungs();
    QComboBox* makeMethod();
    QComboBox* makeScheduler();
    QComboBox* makeChoice(const QString& name, const QString& words, const QVector<SweepChoice>& choices);
    QComboBox* makeObjective();
    QSpinBox* makeNumber(const QString& name, const QString& words, const QString& help, std::int64_t SweepSpec::*at);
    void follow();
    void showPlan();
    void showRungs();
    void showChoosing();

    SpecForm& m_form;
    FormAnswers& m_answers;
    const Explain m_explain;
    QLabel *m_varied, *m_choosing, *m_rungShare, *m_rungTable;
    QComboBox *m_method, *m_objective, *m_scheduler;
    QSpinBox *m_trials, *m_repeats, *m_parallel, *m_firstRung, *m_reduction;
    QWidget* m_rungs;  // what only a scheduler has
    ProblemLabel* m_problem;
};

}  // namespace lockstep::ui
