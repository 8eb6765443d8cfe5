#include "ui/train/vary_room.h"

#include <QLabel>
#include <utility>

#include "ui/style/theme.h"
#include "ui/train/sweep_form.h"
#include "ui/train/vary_choices.h"
#include "ui/train/vary_conditions.h"
#include "ui/train/vary_numbers.h"
#include "ui/train/vary_values.h"

namespace lockstep::ui {

VaryRoom::VaryRoom(SpecForm& form, const QString& path, Name name, QWidget* parent)
    : QWidget(parent), m_form(form), m_path(path), m_name(name) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::kSmall);
    connect(&form, &SpecForm::changed, this, [this] { follow(); });
    connect(&form, &SpecForm::catalogChanged, this, [this] {
        clear();  // it may be another kind of setting than was thought
        follow();
    });
    follow();
}

void VaryRoom::follow() {
    const bool varied = m_form.sweep().isVaried(m_path);
    if (parentWidget() || !varied) setVisible(varied);  // without a parent it would be a window
    if (!varied) clear();
    else if (!m_editor) layout()->addWidget(m_editor = makeEditor());
}

// Later, for it may be who said that the form has changed.
void VaryRoom::clear() {
    if (!m_editor) return;
    m_editor->hide();
    std::exchange(m_editor, nullptr)->deleteLater();
}

QWidget* VaryRoom::makeEditor() {
    const auto field = m_form.sweep().field(m_path);
    QWidget* editor = nullptr;
    switch (field.kind) {
        case FormField::Kind::Integer:
        case FormField::Kind::Number: editor = new VaryNumbers(m_form, field); break;
        case FormField::Kind::Flag:
        case FormField::Kind::Choice: editor = new VaryChoices(m_form, field); break;
        case FormField::Kind::Text:
        case FormField::Kind::File: editor = new VaryValues(m_form, field); break;
    }
    auto* whole = new QWidget;
    auto* layout = new QVBoxLayout(whole);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::kSmall);
    if (m_name == Name::Shown) layout->addWidget(new QLabel(tr("%1, varied").arg(field.label)));
    layout->addWidget(editor);
    layout->addWidget(new VaryConditions(m_form, m_path));
    return whole;
}

}  // namespace lockstep::ui
