#pragma once
#include <QWidget>
#include <functional>

#include "ui/train/field_editor.h"

namespace lockstep::ui {

// The numbers that a varied setting takes, in one row: a range with its scale and spacing, or values. GUI thread.
class VaryNumbers : public QWidget {
    Q_OBJECT
public:
    VaryNumbers(SpecForm& form, const FormField& field, QWidget* parent = nullptr);

private:
    QWidget* makeRange();
    QLineEdit* makeLine(const QString& name, const QString& words, QString Variation::*at);
    QComboBox* makeChoice(const QString& name, const QStringList& items, const QString& words,
                          std::function<void(Variation&, bool)> take);
    void change(const std::function<void(Variation&)>& apply, Edit edit);
    void follow();

    SpecForm& m_form;
    const FormField m_field;
    QComboBox *m_how, *m_scale, *m_spacingKind;
    QLineEdit *m_from, *m_to, *m_spacing;
    QWidget *m_range, *m_values;
};

}  // namespace lockstep::ui
