#pragma once
#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHash>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>
#include <QWidget>

#include "ui/style/explanation.h"
#include "ui/train/spec_form.h"

namespace lockstep::ui {

class NumberSteps;

// A small button in a row of the form that does what the action does, and reads as its iconText().
QToolButton* besideButton(QAction& action, const QString& name);

// The problems of one field in words; hidden while there are none.
class ProblemLabel : public QLabel {
    Q_OBJECT
public:
    explicit ProblemLabel(QWidget* parent = nullptr);
    void tell(const Problems& problems, const Explain& explain, std::size_t most = 8);  // "and 3 more" beyond `most`
    void tell(const QStringList& lines);
};

// One setting of a form: label, editor, unit, whether it is varied, and what is wrong with it. Text that is no number
// goes into the spec as it is, so that nothing typed is lost and the engine's words about it appear here.
class FieldEditor : public QWidget {
    Q_OBJECT
public:
    // Of another choice than the trial's own, which a sweep tries as well: it has its fallback, unless it is varied.
    enum class Of { Trial, OtherChoice };
    // `beside`: what finds a value for it; null: nothing does.
    FieldEditor(SpecForm& form, const FormField& field, const Explain& explain, Of of = Of::Trial,
                QAction* beside = nullptr);
    const QString& path() const { return m_field.path; }

private:
    QHBoxLayout* makeRow(Of of, QAction* beside);
    QWidget* makeEditor();
    QLineEdit* makeLine();
    QLineEdit* makeNumberLine();
    QPushButton* makeFileButton();
    void connectAll();
    bool isText() const { return m_field.kind == FormField::Kind::Text || m_field.kind == FormField::Kind::File; }
    bool isVariable() const;
    void showValue();
    void showVaried();
    void showProblems();
    void showNote();
    QJsonValue parsed(const QString& text) const;

    SpecForm& m_form;
    FormField m_field;
    Explain m_explain;
    QWidget* m_editor = nullptr;
    NumberSteps* m_steps = nullptr;  // of a number
    QPushButton* m_fileButton = nullptr;
    QToolButton* m_beside = nullptr;
    QLabel* m_several = nullptr;  // in place of the editor, while its setting is varied
    ProblemLabel* m_problem = nullptr;
    QLabel* m_note = nullptr;
};

// Fields below each other.
class FieldList : public QWidget {
    Q_OBJECT
public:
    FieldList(SpecForm& form, const Explain& explain, FieldEditor::Of of = FieldEditor::Of::Trial);
    void setBeside(const QString& path, QAction* action) { m_beside[path] = action; }  // of fields that are shown later
    void setFields(const QVector<FormField>& fields);  // rebuilds only where other fields are shown

private:
    SpecForm& m_form;
    Explain m_explain;
    const FieldEditor::Of m_of;
    QHash<QString, QAction*> m_beside;
    QStringList m_shown;
};

// A dataset, model, optimizer or schedule: what to choose from, what it is, and its own settings.
class ChoiceForm : public QWidget {
    Q_OBJECT
public:
    enum class Label { None, Shown };  // none where the card's heading says it
    ChoiceForm(SpecForm& form, const QString& group, const Explain& explain, Label label = Label::None);

private:
    void addChoice(QVBoxLayout& into, Label label);
    void fill();
    void refresh();
    void showVaried();
    QString help(const FormOption* option) const;

    SpecForm& m_form;
    QString m_group;
    Explain m_explain;
    QComboBox* m_choice;
    QLabel *m_several, *m_meaning;
    ProblemLabel* m_problem;
    FieldList *m_fields, *m_beside;
    QLabel* m_besideTitle;
};

// A page that is scrolled must not change the choices and numbers under the mouse.
class CalmComboBox : public QComboBox {
public:
    using QComboBox::QComboBox;
    void wheelEvent(QWheelEvent* event) override;
};
class CalmSpinBox : public QSpinBox {
public:
    CalmSpinBox();
    void wheelEvent(QWheelEvent* event) override;
};

// Leaves Undo and Redo to the form, whose steps reach over all fields.
class FormLine : public QLineEdit {
public:
    using QLineEdit::QLineEdit;

protected:
    bool event(QEvent* event) override;
};

// A card of the page: a frame with a heading; its content goes into the layout.
QVBoxLayout* addCard(QLayout& into, const QString& heading);
QLabel* mutedLabel(const QString& text);

}  // namespace lockstep::ui
