#include "ui/history/setting_text.h"

#include <QHash>
#include <QJsonArray>
#include <QJsonDocument>

namespace lockstep::ui {

QString labelOf(const QString& name) {
    static const QHash<QString, QString> told{{"weights", "Start from weights"},
                                              {"frozen", "Frozen layers"},
                                              {"learning_rate_rule", "Rate scaling"},
                                              {"learning_rate_batch", "Scaling from"},
                                              {"shares", "Parts of a batch"},
                                              {"check_every", "Compare every"},
                                              {"on_lost_device", "Lost device"},
                                              {"on_non_finite", "Non-finite numbers"},
                                              {"checkpoint_minutes", "Checkpoint every"},
                                              {"timeout", "Wait at most"},
                                              {"link_bandwidth", "Simulated bandwidth"},
                                              {"link_latency", "Simulated latency"},
                                              {"sample_length", "Text to write"},
                                              {"sample_prompt", "Prompt"},
                                              {"sample_temperature", "Temperature"}};
    QString label = told.value(name, name);
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
