#include "ui/train/form_catalog.h"

#include <QCoreApplication>
#include <QJsonDocument>
#include <QRegularExpression>
#include <algorithm>

#include "ui/history/setting_text.h"

namespace lockstep::ui {

namespace {

struct FormCatalogText {
    Q_DECLARE_TR_FUNCTIONS(FormCatalogText)
};

constexpr std::string_view kFileUnit = "file";

FormField::Kind kindOf(const ParamField& field) {
    if (std::holds_alternative<bool>(field.fallback)) return FormField::Kind::Flag;
    if (std::holds_alternative<std::int64_t>(field.fallback)) return FormField::Kind::Integer;
    if (std::holds_alternative<double>(field.fallback)) return FormField::Kind::Number;
    if (field.unit == kFileUnit) return FormField::Kind::File;
    return field.choices.empty() ? FormField::Kind::Text : FormField::Kind::Choice;
}

QString textOf(const std::string& text) { return QString::fromStdString(text); }

QJsonValue valueOf(bool value) { return value; }
QJsonValue valueOf(std::int64_t value) { return qint64{value}; }
QJsonValue valueOf(double value) { return value; }
QJsonValue valueOf(const std::string& value) { return textOf(value); }

QJsonObject objectIn(const JsonText& json) {
    return QJsonDocument::fromJson(QByteArray::fromStdString(json.text)).object();
}

QVector<FormField> fieldsFrom(const ParamSchema& schema, const QString& group) {
    QVector<FormField> fields;
    for (const ParamField& each : schema) {
        FormField field;
        const auto name = textOf(each.name);
        field.path = group.isEmpty() ? name : group + '.' + name;
        field.label = labelOf(name);
        field.kind = kindOf(each);
        field.fallback = std::visit([](const auto& value) { return valueOf(value); }, each.fallback);
        field.low = each.low;
        field.high = each.high;
        for (const auto& choice : each.choices) field.choices << textOf(choice);
        if (field.kind != FormField::Kind::File) field.unit = textOf(each.unit);
        field.meaning = textOf(each.meaning);
        fields << field;
    }
    return fields;
}

QVector<FormOption> optionsFrom(const std::vector<OfferedChoice>& choices, const QString& group) {
    QVector<FormOption> options;
    for (const OfferedChoice& each : choices) {
        options << FormOption{textOf(each.id),      textOf(each.title.empty() ? each.id : each.title),
                              textOf(each.meaning), fieldsFrom(each.params, group),
                              textOf(each.state),   textOf(each.path),
                              textOf(each.remedy),  textOf(each.task)};
    }
    return options;
}

}  // namespace

QString FormField::range() const {
    if (!choices.isEmpty()) return choices.join(", ");
    if (low && high) return numberText(*low) + " … " + numberText(*high);
    if (low) return FormCatalogText::tr("at least %1").arg(numberText(*low));
    if (high) return FormCatalogText::tr("at most %1").arg(numberText(*high));
    if (kind == Kind::Flag) return FormCatalogText::tr("on or off");
    if (kind == Kind::File) return FormCatalogText::tr("any file");
    return kind == Kind::Text      ? FormCatalogText::tr("any text")
           : kind == Kind::Integer ? FormCatalogText::tr("any whole number")
                                   : FormCatalogText::tr("any number");
}

QString FormField::help() const {
    QStringList lines{meaning};
    const QString standard = kind == Kind::Flag
                                 ? (fallback.toBool() ? FormCatalogText::tr("on") : FormCatalogText::tr("off"))
                                 : numberText(fallback);
    lines << FormCatalogText::tr("Default: %1")
                 .arg(standard.isEmpty() ? FormCatalogText::tr("empty")
                      : unit.isEmpty()   ? standard
                                         : standard + ' ' + unit);
    lines << (choices.isEmpty() ? FormCatalogText::tr("Range: %1") : FormCatalogText::tr("One of: %1")).arg(range());
    return lines.join('\n');
}

QString FormField::whenEmpty() const {
    static const QRegularExpression words("empty: ([^;.]+)");
    return words.match(meaning).captured(1);
}

void FormCatalog::take(const SettingsAnswer& answer) {
    optimizers = optionsFrom(answer.optimizers, "optimizer");
    schedules = optionsFrom(answer.schedules, "schedule");
    augmentation = fieldsFrom(answer.augmentation, "augmentation");
    trial = fieldsFrom(answer.trial, {});
    defaults = objectIn(answer.defaults);
}

void FormCatalog::take(const DatasetsAnswer& answer) { datasets = optionsFrom(answer.datasets, "dataset"); }

void FormCatalog::take(const ModelsAnswer& answer) { models = optionsFrom(answer.models, "model"); }

void FormCatalog::take(const DevicesAnswer& answer) {
    devices = {};
    deviceFacts.clear();
    bf16Speed = 0;
    for (const OfferedDevice& each : answer.devices) {
        devices.available.push_back(each.info);
        if (!each.facts.empty()) deviceFacts.insert(textOf(each.info.id), textOf(each.facts));
        if (each.info.backend == "cpu") bf16Speed = each.bf16Speed;
    }
    for (const MissingBackend& each : answer.missing) {
        for (const ToldProblem& told : each.problems) devices.missing.emplace_back(each.backend, told.problem);
    }
}

void FormCatalog::take(const PresetsAnswer& answer) {
    presets.clear();
    for (const OfferedPreset& each : answer.presets) {
        const auto spec = objectIn(each.spec);
        const auto title = spec["title"].toString();
        presets << Preset{textOf(each.name), title.isEmpty() ? textOf(each.name) : title, spec};
    }
}

const QVector<FormOption>& FormCatalog::options(const QString& group) const {
    static const QVector<FormOption> none;
    if (group == "dataset") return datasets;
    if (group == "model") return models;
    if (group == "optimizer") return optimizers;
    return group == "schedule" ? schedules : none;
}

const FormOption* FormCatalog::option(const QString& group, const QString& id) const {
    const auto& all = options(group);
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.id == id; });
    return found == all.end() ? nullptr : &*found;
}

}  // namespace lockstep::ui
