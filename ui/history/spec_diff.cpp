#include "ui/history/spec_diff.h"

#include <algorithm>

#include "engine/spec/trial_settings.h"
#include "ui/history/setting_text.h"

namespace lockstep::ui {

namespace {

// A key that the fields lack goes behind the one it follows in its own spec.
std::size_t placeOf(std::vector<SpecField>& fields, const QString& key, std::size_t after) {
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.key == key; });
    if (found != fields.end()) return static_cast<std::size_t>(found - fields.begin());
    fields.insert(fields.begin() + static_cast<std::ptrdiff_t>(after), SpecField{key, {}});
    return after;
}

bool differs(const SpecField& field) {
    return std::any_of(field.values.begin(), field.values.end(), [&](const QString& value) {
        return value != field.values.front() || value.isNull() != field.values.front().isNull();
    });
}

}  // namespace

QString settingName(const QString& path) {
    const QString group = path.section('.', 0, 0), name = path.section('.', 1);
    if (name.isEmpty()) return labelOf(group);
    const QString label = labelOf(name);
    return labelOf(group) + ": " + label[0].toLower() + label.mid(1);
}

std::vector<SpecField> fieldsOf(std::span<const TrialSpec> specs) {
    std::vector<SpecField> fields;
    const auto count = static_cast<qsizetype>(specs.size());
    for (qsizetype i = 0; i < count; ++i) {
        std::size_t next = 0;
        for (const auto& [path, value] : settingsOf(specs[static_cast<std::size_t>(i)])) {
            const auto at = placeOf(fields, QString::fromStdString(path), next);
            const auto shown = QString::fromStdString(text(value));
            fields[at].values.resize(count);
            fields[at].values[i] = shown.isNull() ? QStringLiteral("") : shown;
            next = at + 1;
        }
    }
    return fields;
}

std::vector<SpecField> differencesOf(std::span<const TrialSpec> specs) {
    auto fields = fieldsOf(specs);
    std::erase_if(fields, [](const SpecField& field) { return !differs(field); });
    return fields;
}

void SpecDiffModel::show(std::span<const TrialSpec> specs, QStringList names) {
    auto fields = specs.size() == 1 ? fieldsOf(specs) : differencesOf(specs);
    if (fields == m_fields && names == m_names) return;
    beginResetModel();
    m_fields = std::move(fields);
    m_names = std::move(names);
    endResetModel();
}

int SpecDiffModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_fields.size());
}

int SpecDiffModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_names.size());
}

QVariant SpecDiffModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const QString value = m_fields[static_cast<std::size_t>(index.row())].values.value(index.column());
    if (role == Qt::DisplayRole) return value.isNull() ? tr("(default)") : value;
    return role == Qt::ToolTipRole ? QVariant(value) : QVariant();
}

QVariant SpecDiffModel::headerData(int section, Qt::Orientation orientation, int role) const {
    const bool asked = role == Qt::DisplayRole || role == Qt::ToolTipRole;
    if (!asked || section < 0) return {};
    if (orientation == Qt::Horizontal) return role == Qt::DisplayRole ? m_names.value(section) : QVariant();
    if (section >= rowCount()) return {};
    const QString& key = m_fields[static_cast<std::size_t>(section)].key;
    return role == Qt::DisplayRole ? settingName(key) : settingName(key) + " (" + key + ")";
}

}  // namespace lockstep::ui
