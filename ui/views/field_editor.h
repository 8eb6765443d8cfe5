#pragma once
#include <QLabel>
#include <QLineEdit>
#include <QVBoxLayout>
#include <QWidget>

#include "ui/explanation.h"
#include "ui/models/spec_form.h"

class QComboBox;

namespace lockstep::ui {

// The problems of one field in words; hidden while there are none.
class ProblemLabel : public QLabel {
public:
    explicit ProblemLabel(QWidget* parent = nullptr);
    void tell(const Problems& problems, const Explain& explain);
};

// One setting of a form: label, editor, unit, and what is wrong with it. Text that is no number goes into the spec as it is,
// so that nothing typed is lost and the engine's words about it appear here.
class FieldEditor : public QWidget {
public:
    FieldEditor(SpecForm& form, const FormField& field, const Explain& explain, QWidget* parent = nullptr);
    const QString& path() const { return m_field.path; }

private:
    QWidget* makeEditor();
    QLineEdit* makeLine();
    void showValue();
    void showProblems();
    QJsonValue parsed(const QString& text) const;

    SpecForm& m_form;
    FormField m_field;
    Explain m_explain;
    QWidget* m_editor = nullptr;
    ProblemLabel* m_problem = nullptr;
};

// Fields below each other.
class FieldList : public QWidget {
public:
    FieldList(SpecForm& form, const Explain& explain, QWidget* parent = nullptr);
    void setFields(const QVector<FormField>& fields);        // rebuilds only where other fields are shown

private:
    SpecForm& m_form;
    Explain m_explain;
    QStringList m_shown;
};

// A dataset, model, optimizer or schedule: what to choose from, what it is, and its own settings.
class ChoiceForm : public QWidget {
public:
    ChoiceForm(SpecForm& form, const QString& group, const Explain& explain, QWidget* parent = nullptr);

private:
    void fill();
    void refresh();

    SpecForm& m_form;
    QString m_group;
    Explain m_explain;
    QComboBox* m_choice;
    QLabel* m_meaning;
    ProblemLabel* m_problem;
    FieldList* m_fields;
};

// A card of the page: a frame with a heading; its content goes into the layout.
QVBoxLayout* addCard(QLayout& into, const QString& heading);
QLabel* mutedLabel(const QString& text);

}  // namespace lockstep::ui
