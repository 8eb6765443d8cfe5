#include "ui/train/vary_conditions.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <algorithm>
#include <utility>

#include "ui/style/theme.h"
#include "ui/train/field_editor.h"
#include "ui/train/quiet_button.h"
#include "ui/train/sweep_form.h"
#include "ui/train/sweep_text.h"

namespace lockstep::ui {

namespace {

// As high as the fields beside it.
constexpr const char* kValuesStyle = R"(
    QPushButton { padding: 2px 8px; }
    QPushButton:focus { padding: 1px 7px; }
    QPushButton::menu-indicator { image: none; width: 0; }
)";

}  // namespace

VaryCondition::VaryCondition(SpecForm& form, const QString& path, int index, QWidget* parent)
    : QWidget(parent), m_form(form), m_path(path), m_index(index) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(space::kSmall);
    auto* remove = new QuietButton(name("remove"), "✕", tr("It counts always"),
                                   tr("Take the condition of %1 away").arg(form.sweep().field(path).label));
    connect(remove, &QToolButton::clicked, this, &VaryCondition::removed);
    row->addWidget(new QLabel(index == 0 ? tr("only when") : tr("and when")));
    row->addWidget(m_setting = makeSetting());
    row->addWidget(new QLabel(tr("is")));
    row->addWidget(m_values = makeValues());
    row->addWidget(remove);
    row->addStretch(1);
    follow();
}

QString VaryCondition::name(const char* part) const {
    return QString("%1.when.%2.%3").arg(m_path).arg(m_index).arg(part);
}

QComboBox* VaryCondition::makeSetting() {
    auto* box = new CalmComboBox;
    box->setObjectName(name("setting"));
    box->setAccessibleName(tr("%1 counts only when").arg(m_form.sweep().field(m_path).label));
    box->setToolTip(tr("Another setting that is varied: only with some of its values does this one count."));
    box->setAccessibleDescription(box->toolTip());
    connect(box, &QComboBox::activated, this, [this, box](int at) { ask(box->itemData(at).toString()); });
    return box;
}

QPushButton* VaryCondition::makeValues() {
    auto* button = new QPushButton;
    button->setObjectName(name("values"));
    button->setStyleSheet(kValuesStyle);
    button->setToolTip(tr("With which of its values"));
    m_menu = new QMenu(button);
    button->setMenu(m_menu);
    connect(m_menu, &QMenu::aboutToShow, this, &VaryCondition::fillMenu);
    return button;
}

void VaryCondition::takeFocus() { m_setting->setFocus(Qt::OtherFocusReason); }

DimensionCondition VaryCondition::condition() const {
    const auto when = m_form.sweep().variation(m_path).when;
    return when.at(static_cast<std::size_t>(m_index));
}

void VaryCondition::put(DimensionCondition condition) {
    auto when = m_form.sweep().variation(m_path).when;
    when.at(static_cast<std::size_t>(m_index)) = std::move(condition);
    m_form.sweep().setConditions(m_path, std::move(when));
}

// Without those that another condition asks about.
std::vector<AskedSetting> VaryCondition::offered() const {
    const auto when = m_form.sweep().variation(m_path).when;
    const auto own = condition().path;
    auto settings = askableBy(m_form.sweep(), m_path);
    std::erase_if(settings, [&](const AskedSetting& each) {
        const auto path = each.path.toStdString();
        return path != own && std::ranges::find(when, path, &DimensionCondition::path) != when.end();
    });
    return settings;
}

void VaryCondition::ask(const QString& about) {
    const auto settings = offered();
    const auto asked = std::ranges::find(settings, about, &AskedSetting::path);
    if (asked == settings.end() || condition().path == about.toStdString()) return;
    put({about.toStdString(), {asked->values.front()}});
}

// In the order in which they are tried; one stays, or there would be no condition.
void VaryCondition::tick(const ParamValue& value, bool on) {
    const auto before = condition();
    DimensionCondition next{before.path, {}};
    for (const ParamValue& each : askedBy(m_form.sweep(), m_path, before).values) {
        const bool isTicked = std::ranges::find(before.values, each) != before.values.end();
        if (each == value ? on : isTicked) next.values.push_back(each);
    }
    if (!next.values.empty()) put(std::move(next));
}

void VaryCondition::fillMenu() {
    const auto now = condition();
    m_menu->clear();
    for (const ParamValue& each : askedBy(m_form.sweep(), m_path, now).values) {
        auto* action = m_menu->addAction(QString::fromStdString(text(each)));
        action->setCheckable(true);
        action->setChecked(std::ranges::find(now.values, each) != now.values.end());
        connect(action, &QAction::triggered, this, [this, each](bool on) { tick(each, on); });
    }
}

void VaryCondition::follow() {
    const auto now = condition();
    const auto about = askedBy(m_form.sweep(), m_path, now);
    m_setting->clear();
    for (const AskedSetting& each : offered()) m_setting->addItem(each.label, each.path);
    if (m_setting->findData(about.path) < 0) m_setting->addItem(about.label, about.path);
    m_setting->setCurrentIndex(m_setting->findData(about.path));
    m_values->setText(alternativesText(now.values) + " ▾");
    m_values->setAccessibleName(
        tr("Values of %1 with which %2 counts: %3")
            .arg(about.label, m_form.sweep().field(m_path).label, alternativesText(now.values)));
}

VaryConditions::VaryConditions(SpecForm& form, const QString& path, QWidget* parent)
    : QWidget(parent), m_form(form), m_path(path), m_column(new QVBoxLayout(this)) {
    m_column->setContentsMargins(0, 0, 0, 0);
    m_column->setSpacing(space::kSmall);
    m_more = new QuietButton(path + ".when", {}, tr("Try these values only with some values of another setting."));
    m_column->addWidget(m_more, 0, Qt::AlignLeft);
    connect(m_more, &QToolButton::clicked, this, &VaryConditions::add);
    connect(&form, &SpecForm::changed, this, &VaryConditions::follow);
    follow();
}

std::vector<AskedSetting> VaryConditions::unasked() const {
    const auto when = m_form.sweep().variation(m_path).when;
    auto settings = askableBy(m_form.sweep(), m_path);
    std::erase_if(settings, [&](const AskedSetting& each) {
        return std::ranges::find(when, each.path.toStdString(), &DimensionCondition::path) != when.end();
    });
    return settings;
}

void VaryConditions::add() {
    const auto settings = unasked();
    if (settings.empty()) return;
    auto when = m_form.sweep().variation(m_path).when;
    when.push_back({settings.front().path.toStdString(), {settings.front().values.front()}});
    m_form.sweep().setConditions(m_path, std::move(when));
    m_rows.back()->takeFocus();
}

void VaryConditions::remove(int index) {
    auto when = m_form.sweep().variation(m_path).when;
    when.erase(when.begin() + index);
    m_form.sweep().setConditions(m_path, std::move(when));
    m_more->setFocus(Qt::OtherFocusReason);
}

void VaryConditions::follow() {
    if (!m_form.sweep().isVaried(m_path)) return;
    const std::size_t wanted = m_form.sweep().variation(m_path).when.size();
    for (; m_rows.size() > wanted; m_rows.pop_back()) {
        m_rows.back()->hide();
        m_rows.back()->deleteLater();
    }
    for (VaryCondition* each : m_rows) each->follow();
    while (m_rows.size() < wanted) {
        const auto index = static_cast<int>(m_rows.size());
        auto* row = new VaryCondition(m_form, m_path, index);
        connect(row, &VaryCondition::removed, this, [this, index] { remove(index); });
        m_column->insertWidget(index, row);
        m_rows.push_back(row);
    }
    m_more->setText(wanted == 0 ? tr("Only when…") : tr("And when…"));
    m_more->setAccessibleName(tr("%1: %2").arg(m_form.sweep().field(m_path).label, m_more->text()));
    m_more->setVisible(!unasked().empty());
}

}  // namespace lockstep::ui
