#pragma once
#include "ui/train/field_editor.h"

namespace lockstep::ui {

// Values of a varied setting, typed behind each other: "64, 128, 256". GUI thread.
class VaryValues : public FormLine {
    Q_OBJECT
public:
    VaryValues(SpecForm& form, const FormField& field, QWidget* parent = nullptr);

private:
    void follow();

    SpecForm& m_form;
    const FormField m_field;
};

}  // namespace lockstep::ui
