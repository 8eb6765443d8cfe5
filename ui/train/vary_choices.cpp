#include "ui/train/vary_choices.h"

#include <QCheckBox>
#include <QGridLayout>

#include "ui/style/theme.h"
#include "ui/train/sweep_form.h"

namespace lockstep::ui {

namespace {

constexpr int kChoicesPerRow = 2;

}  // namespace

VaryChoices::VaryChoices(SpecForm& form, const FormField& field, QWidget* parent)
    : QWidget(parent), m_form(form), m_field(field) {
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(space::kSmall);
    const bool isFlag = field.kind == FormField::Kind::Flag;
    if (isFlag) {
        addChoice("false", tr("off"), field.help());
        addChoice("true", tr("on"), field.help());
    }
    for (const QString& id : field.choices) {
        const auto* option = form.catalog().option(field.path, id);
        addChoice(id, option ? option->title : id, option ? option->meaning : field.help());
    }
    connect(&form, &SpecForm::changed, this, [this] { follow(); });
    follow();
}

void VaryChoices::addChoice(const QString& id, const QString& title, const QString& meaning) {
    auto* box = new QCheckBox(title);
    box->setObjectName(m_field.path + '=' + id);
    box->setAccessibleName(tr("%1: try %2").arg(m_field.label, title));
    box->setAccessibleDescription(meaning);
    box->setToolTip(meaning);
    connect(box, &QCheckBox::clicked, this, [this, id](bool on) { tick(id, on); });
    const auto at = static_cast<int>(m_ids.size());
    static_cast<QGridLayout*>(layout())->addWidget(box, at / kChoicesPerRow, at % kChoicesPerRow);
    m_ids << id;
}

// In the order in which they are offered, whatever the order of the clicks.
void VaryChoices::tick(const QString& id, bool on) {
    auto variation = m_form.sweep().variation(m_field.path);
    QStringList ticked;
    for (const QString& each : m_ids) {
        if (each == id ? on : variation.values.contains(each)) ticked << each;
    }
    variation.values = ticked;
    m_form.sweep().setVariation(m_field.path, variation, Edit::Single);
}

void VaryChoices::follow() {
    const auto values = m_form.sweep().variation(m_field.path).values;
    for (const QString& id : m_ids) {
        if (auto* box = findChild<QCheckBox*>(m_field.path + '=' + id)) box->setChecked(values.contains(id));
    }
}

}  // namespace lockstep::ui
