#include "ui/history/setting_text.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <algorithm>

namespace lockstep::ui {

namespace {

struct SettingText {
    Q_DECLARE_TR_FUNCTIONS(SettingText)
};

// Of settings whose names say too little.
struct Label {
    const char* name;
    const char* words;
};
constexpr Label kLabels[] = {
    {"validation_share", QT_TRANSLATE_NOOP("SettingText", "Held out")},
    {"validation_seed", QT_TRANSLATE_NOOP("SettingText", "Held out by seed")},
    {"weights", QT_TRANSLATE_NOOP("SettingText", "Start from weights")},
    {"frozen", QT_TRANSLATE_NOOP("SettingText", "Frozen layers")},
    {"learning_rate_rule", QT_TRANSLATE_NOOP("SettingText", "Rate scaling")},
    {"learning_rate_batch", QT_TRANSLATE_NOOP("SettingText", "Scaling from")},
    {"shares", QT_TRANSLATE_NOOP("SettingText", "Parts of a batch")},
    {"check_every", QT_TRANSLATE_NOOP("SettingText", "Compare every")},
    {"on_lost_device", QT_TRANSLATE_NOOP("SettingText", "Lost device")},
    {"on_non_finite", QT_TRANSLATE_NOOP("SettingText", "Non-finite numbers")},
    {"on_bad_sample", QT_TRANSLATE_NOOP("SettingText", "Unreadable images")},
    {"max_bad_share", QT_TRANSLATE_NOOP("SettingText", "Unreadable at most")},
    {"checkpoint_minutes", QT_TRANSLATE_NOOP("SettingText", "Checkpoint every")},
    {"keep_checkpoints", QT_TRANSLATE_NOOP("SettingText", "Keep checkpoints")},
    {"timeout", QT_TRANSLATE_NOOP("SettingText", "Wait at most")},
    {"loader_limit", QT_TRANSLATE_NOOP("SettingText", "Loading held at")},
    {"link_bandwidth", QT_TRANSLATE_NOOP("SettingText", "Simulated bandwidth")},
    {"link_latency", QT_TRANSLATE_NOOP("SettingText", "Simulated latency")},
    {"sample_length", QT_TRANSLATE_NOOP("SettingText", "Text to write")},
    {"sample_prompt", QT_TRANSLATE_NOOP("SettingText", "Prompt")},
    {"sample_temperature", QT_TRANSLATE_NOOP("SettingText", "Temperature")},
};

QString told(const QString& name) {
    const auto found = std::ranges::find_if(kLabels, [&](const Label& each) { return name == each.name; });
    return found == std::end(kLabels) ? name : SettingText::tr(found->words);
}

}  // namespace

QString labelOf(const QString& name) {
    QString label = told(name);
    label.replace('_', ' ');
    if (!label.isEmpty()) label[0] = label[0].toUpper();
    return label;
}

QString numberText(const QJsonValue& value) {
    if (value.isString()) return value.toString();
    const auto json = QJsonDocument(QJsonArray{value}).toJson(QJsonDocument::Compact);
    return QString::fromUtf8(json.mid(1, json.size() - 2));
}

}  // namespace lockstep::ui
