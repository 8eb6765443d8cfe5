#pragma once
#include <QHash>
#include <QJsonObject>
#include <QString>
#include <QStringList>
#include <QVector>
#include <optional>

#include "engine/spec/devices.h"
#include "engine/spec/serve_messages.h"

namespace lockstep::ui {

// One setting as a form shows it; the engine's ParamField.
struct FormField {
    enum class Kind { Flag, Integer, Number, Text, Choice, File };
    QString path;   // "batch", "optimizer.momentum": where the spec and problems have it
    QString label;  // "Momentum"
    Kind kind = Kind::Text;
    QJsonValue fallback;
    std::optional<double> low, high;  // inclusive
    QStringList choices;
    QString unit, meaning;

    QString range() const;      // "0 … 1", "at least 1", "on or off", "any text"
    QString help() const;       // meaning, unit, default, range: for tooltips
    QString whenEmpty() const;  // what an empty field stands for, as the meaning has it: "random ones"
};

// Something chosen by name: a dataset, model, optimizer or schedule.
struct FormOption {
    QString id, title, meaning;
    QVector<FormField> fields;
    QString state, path, remedy;  // datasets: "present", "needs-path" or "absent"; the usual place; what to do
    QString task;                 // models: what they learn
};

struct Preset {
    QString name, title;
    QJsonObject spec;
};

// What the engine offers: the answers of `lockstep serve`, as plain values.
struct FormCatalog {
    QVector<FormField> trial, augmentation;
    QVector<FormOption> datasets, models, optimizers, schedules;
    QVector<Preset> presets;
    QJsonObject defaults;  // a whole spec
    DeviceRequest devices;
    QHash<QString, QString> deviceFacts;  // by id: temperature, power, links… of a card just now, in words
    double bf16Speed = 0;                 // of products of matrices on the CPU, fp32's being 1; 0: unknown

    void take(const SettingsAnswer& answer);
    void take(const DatasetsAnswer& answer);
    void take(const ModelsAnswer& answer);
    void take(const DevicesAnswer& answer);
    void take(const PresetsAnswer& answer);

    const QVector<FormOption>& options(const QString& group) const;  // "dataset", "model", "optimizer", "schedule"
    const FormOption* option(const QString& group, const QString& id) const;
};

}  // namespace lockstep::ui
