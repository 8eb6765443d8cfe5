#include "ui/train/vary_values.h"

#include "ui/train/sweep_form.h"

namespace lockstep::ui {

VaryValues::VaryValues(SpecForm& form, const FormField& field, QWidget* parent)
    : FormLine(parent), m_form(form), m_field(field) {
    const bool isText = field.kind == FormField::Kind::Text || field.kind == FormField::Kind::File;
    setObjectName(field.path + ".values");
    setAccessibleName(tr("Values of %1").arg(field.label));
    setPlaceholderText(isText ? tr("Values, with semicolons between them") : tr("Values, with commas between them"));
    setToolTip(placeholderText() + '\n' + field.help());
    setAccessibleDescription(toolTip());
    connect(this, &QLineEdit::textEdited, this, [this](const QString& typed) {
        auto variation = m_form.sweep().variation(m_field.path);
        variation.values = valuesIn(m_field, typed);
        m_form.sweep().setVariation(m_field.path, variation, Edit::Typing);
    });
    connect(this, &QLineEdit::editingFinished, this, [this] { m_form.endTyping(); });
    connect(&form, &SpecForm::changed, this, [this] { follow(); });
    follow();
}

// A comma that was just typed stays.
void VaryValues::follow() {
    const auto values = m_form.sweep().variation(m_field.path).values;
    if (valuesIn(m_field, text()) != values) setText(typedValues(m_field, values));
}

}  // namespace lockstep::ui
