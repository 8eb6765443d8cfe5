#pragma once
#include <QWidget>

#include "ui/train/field_editor.h"
#include "ui/train/form_answers.h"

namespace lockstep::ui {

// How a sweep tries what is varied, and by what its best is chosen. Hidden while nothing is varied. GUI thread.
class SweepSettingsCard : public QWidget {
    Q_OBJECT
public:
    SweepSettingsCard(SpecForm& form, FormAnswers& answers, const Explain& explain, QWidget* parent = nullptr);

private:
    QWidget* makePlan();
    void addLabelled(QHBoxLayout& into, const QString& name, QWidget* editor);
    QComboBox* makeMethod();
    QComboBox* makeObjective();
    QSpinBox* makeNumber(const QString& name, const QString& words, const QString& help, std::int64_t SweepSpec::*at);
    void follow();
    void showPlan();
    void showChoosing();

    SpecForm& m_form;
    FormAnswers& m_answers;
    const Explain m_explain;
    QLabel *m_varied, *m_choosing;
    QComboBox *m_method, *m_objective;
    QSpinBox *m_trials, *m_repeats, *m_parallel;
    ProblemLabel* m_problem;
};

}  // namespace lockstep::ui
