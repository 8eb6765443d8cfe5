#include "ui/train/form_catalog.h"

#include <QHash>
#include <QJsonArray>
#include <QJsonDocument>
#include <QRegularExpression>
#include <algorithm>

#include "ui/history/setting_text.h"
#include "ui/train/problem_list.h"

namespace lockstep::ui {

namespace {

const QString kFileUnit = "file";

FormField::Kind kindOf(const QJsonObject& row) {
    const auto kind = row["kind"].toString();
    if (kind == "flag") return FormField::Kind::Flag;
    if (kind == "integer") return FormField::Kind::Integer;
    if (kind == "number") return FormField::Kind::Number;
    if (row["unit"].toString() == kFileUnit) return FormField::Kind::File;
    return row.contains("choices") ? FormField::Kind::Choice : FormField::Kind::Text;
}

std::optional<double> boundOf(const QJsonValue& value) {
    return value.isDouble() ? std::optional(value.toDouble()) : std::nullopt;
}

QVector<FormField> fieldsFrom(const QJsonArray& rows, const QString& group) {
    QVector<FormField> fields;
    for (const auto& each : rows) {
        const auto row = each.toObject();
        FormField field;
        const auto name = row["name"].toString();
        field.path = group.isEmpty() ? name : group + '.' + name;
        field.label = labelOf(name);
        field.kind = kindOf(row);
        field.fallback = row["fallback"];
        field.low = boundOf(row["low"]);
        field.high = boundOf(row["high"]);
        for (const auto& choice : row["choices"].toArray()) field.choices << choice.toString();
        if (field.kind != FormField::Kind::File) field.unit = row["unit"].toString();
        field.meaning = row["meaning"].toString();
        fields << field;
    }
    return fields;
}

QVector<FormOption> optionsFrom(const QJsonArray& rows, const QString& group) {
    QVector<FormOption> options;
    for (const auto& each : rows) {
        const auto row = each.toObject();
        const auto id = row["id"].toString(), title = row["title"].toString();
        options << FormOption{id,
                              title.isEmpty() ? id : title,
                              row["meaning"].toString(),
                              fieldsFrom(row["params"].toArray(), group),
                              row["state"].toString(),
                              row["path"].toString(),
                              row["remedy"].toString(),
                              row["task"].toString()};
    }
    return options;
}

DeviceRequest devicesFrom(const QJsonObject& answer) {
    DeviceRequest devices;
    for (const auto& each : answer["devices"].toArray()) {
        const auto row = each.toObject();
        devices.available.push_back({row["id"].toString().toStdString(), row["name"].toString().toStdString(),
                                     row["backend"].toString().toStdString(),
                                     static_cast<std::size_t>(row["memory_bytes"].toDouble()), row["cores"].toInt()});
    }
    for (const auto& each : answer["missing"].toArray()) {
        const auto row = each.toObject();
        for (const auto& problem : problemsFrom(row["problems"].toArray())) {
            devices.missing.emplace_back(row["backend"].toString().toStdString(), problem);
        }
    }
    return devices;
}

QHash<QString, QString> deviceFactsIn(const QJsonObject& answer) {
    QHash<QString, QString> facts;
    for (const auto& each : answer["devices"].toArray()) {
        const auto row = each.toObject();
        if (row.contains("facts")) facts.insert(row["id"].toString(), row["facts"].toString());
    }
    return facts;
}

double bf16SpeedIn(const QJsonObject& answer) {
    for (const auto& each : answer["devices"].toArray()) {
        if (each.toObject()["backend"].toString() == "cpu") return each.toObject()["bf16_speed"].toDouble();
    }
    return 0;
}

QVector<Preset> presetsFrom(const QJsonArray& rows) {
    QVector<Preset> presets;
    for (const auto& each : rows) {
        const auto row = each.toObject();
        const auto spec = row["spec"].toObject();
        const auto name = row["name"].toString(), title = spec["title"].toString();
        presets << Preset{name, title.isEmpty() ? name : title, spec};
    }
    return presets;
}

}  // namespace

QString FormField::range() const {
    if (!choices.isEmpty()) return choices.join(", ");
    if (low && high) return numberText(*low) + " … " + numberText(*high);
    if (low) return "at least " + numberText(*low);
    if (high) return "at most " + numberText(*high);
    if (kind == Kind::Flag) return "on or off";
    if (kind == Kind::File) return "any file";
    return kind == Kind::Text ? "any text" : kind == Kind::Integer ? "any whole number" : "any number";
}

QString FormField::help() const {
    QStringList lines{meaning};
    const QString standard = kind == Kind::Flag ? (fallback.toBool() ? "on" : "off") : numberText(fallback);
    lines << "Default: " + (standard.isEmpty() ? "empty" : standard + (unit.isEmpty() ? QString() : ' ' + unit));
    lines << (choices.isEmpty() ? "Range: " : "One of: ") + range();
    return lines.join('\n');
}

QString FormField::whenEmpty() const {
    static const QRegularExpression words("empty: ([^;.]+)");
    return words.match(meaning).captured(1);
}

QStringList FormCatalog::requests() { return {"settings", "datasets", "models", "devices", "presets"}; }

void FormCatalog::take(const QString& request, const QJsonObject& answer) {
    if (request == "datasets") datasets = optionsFrom(answer["datasets"].toArray(), "dataset");
    if (request == "models") models = optionsFrom(answer["models"].toArray(), "model");
    if (request == "devices") {
        devices = devicesFrom(answer);
        deviceFacts = deviceFactsIn(answer);
        bf16Speed = bf16SpeedIn(answer);
    }
    if (request == "presets") presets = presetsFrom(answer["presets"].toArray());
    if (request != "settings") return;
    optimizers = optionsFrom(answer["optimizers"].toArray(), "optimizer");
    schedules = optionsFrom(answer["schedules"].toArray(), "schedule");
    augmentation = fieldsFrom(answer["augmentation"].toArray(), "augmentation");
    trial = fieldsFrom(answer["trial"].toArray(), {});
    defaults = answer["defaults"].toObject();
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
