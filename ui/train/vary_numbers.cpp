#include "ui/train/vary_numbers.h"

#include <QHBoxLayout>

#include "ui/style/theme.h"
#include "ui/train/sweep_form.h"
#include "ui/train/vary_values.h"

namespace lockstep::ui {

namespace {

constexpr int kEndWidth = 64, kSpacingWidth = 48;

void showTyped(QLineEdit& line, const QString& typed) {
    if (line.text() != typed) line.setText(typed);
}

}  // namespace

VaryNumbers::VaryNumbers(SpecForm& form, const FormField& field, QWidget* parent)
    : QWidget(parent), m_form(form), m_field(field) {
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::kSmall);
    m_how = makeChoice("how", {tr("Values"), tr("Range")}, tr("%1: values or a range"),
                       [](Variation& variation, bool second) { variation = asRange(variation, second); });
    layout->addWidget(m_how);
    layout->addWidget(m_range = makeRange(), 1);
    layout->addWidget(m_values = new VaryValues(form, field), 1);
    connect(&form, &SpecForm::changed, this, [this] { follow(); });
    follow();
}

QWidget* VaryNumbers::makeRange() {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::kSmall);
    m_from = makeLine("from", tr("%1: the smallest value"), &Variation::from);
    m_to = makeLine("to", tr("%1: the largest value"), &Variation::to);
    m_scale = makeChoice("scale", {tr("linear"), tr("log")}, tr("%1: scale between the two"),
                         [](Variation& variation, bool second) { variation.isLog = second; });
    m_spacingKind = makeChoice("spacing-kind", {tr("points"), tr("steps of")}, tr("%1: points or steps"),
                               [](Variation& variation, bool second) { variation.isStep = second; });
    m_spacing =
        makeLine("spacing", tr("%1: how many points, or the step; empty: every value between"), &Variation::spacing);
    m_from->setMinimumWidth(kEndWidth);
    m_to->setMinimumWidth(kEndWidth);
    m_spacing->setMinimumWidth(kSpacingWidth);
    m_spacing->setPlaceholderText(tr("all"));
    layout->addWidget(m_from, 2);
    layout->addWidget(new QLabel(tr("to")));
    layout->addWidget(m_to, 2);
    for (auto* each : {m_scale, m_spacingKind}) layout->addWidget(each);
    layout->addWidget(m_spacing, 1);
    return row;
}

QLineEdit* VaryNumbers::makeLine(const QString& name, const QString& words, QString Variation::*at) {
    auto* line = new FormLine;
    line->setObjectName(m_field.path + '.' + name);
    line->setAlignment(Qt::AlignRight);
    line->setAccessibleName(words.arg(m_field.label));
    line->setToolTip(line->accessibleName() + '\n' + m_field.help());
    connect(line, &QLineEdit::textEdited, this, [this, at](const QString& typed) {
        change([&](Variation& variation) { variation.*at = typed; }, Edit::Typing);
    });
    connect(line, &QLineEdit::editingFinished, this, [this] { m_form.endTyping(); });
    return line;
}

QComboBox* VaryNumbers::makeChoice(const QString& name, const QStringList& items, const QString& words,
                                   std::function<void(Variation&, bool)> take) {
    auto* box = new CalmComboBox;
    box->setObjectName(m_field.path + '.' + name);
    box->addItems(items);
    box->setAccessibleName(words.arg(m_field.label));
    box->setToolTip(box->accessibleName() + '\n' + m_field.help());
    connect(box, &QComboBox::activated, this, [this, take = std::move(take)](int index) {
        change([&](Variation& variation) { take(variation, index == 1); }, Edit::Single);
    });
    return box;
}

void VaryNumbers::change(const std::function<void(Variation&)>& apply, Edit edit) {
    auto variation = m_form.sweep().variation(m_field.path);
    apply(variation);
    m_form.sweep().setVariation(m_field.path, variation, edit);
}

void VaryNumbers::follow() {
    if (!m_form.sweep().isVaried(m_field.path)) return;
    const auto variation = m_form.sweep().variation(m_field.path);
    m_how->setCurrentIndex(variation.isRange ? 1 : 0);
    m_scale->setCurrentIndex(variation.isLog ? 1 : 0);
    m_spacingKind->setCurrentIndex(variation.isStep ? 1 : 0);
    showTyped(*m_from, variation.from);
    showTyped(*m_to, variation.to);
    showTyped(*m_spacing, variation.spacing);
    m_range->setVisible(variation.isRange);
    m_values->setVisible(!variation.isRange);
}

}  // namespace lockstep::ui
