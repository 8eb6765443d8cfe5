#include "ui/train/find_question.h"

#include <QJsonDocument>

#include "engine/spec/trial_settings.h"
#include "ui/history/command_text.h"

namespace lockstep::ui {

namespace {

const QString kInput = "/dev/stdin";

// Of a run that is not kept, and whose rates are others.
const QStringList kNoMatter{"title", "epochs", "learning_rate", "schedule"};

std::vector<Setting> settingsOfSpec(const QJsonObject& spec) {
    return settingsIn(QJsonDocument(spec).toJson(QJsonDocument::Compact).toStdString());
}

bool matters(const Setting& setting) {
    return !kNoMatter.contains(QString::fromStdString(setting.path).section('.', 0, 0));
}

}  // namespace

QString withoutInput(QString said) { return said.remove(kInput + ": "); }

QStringList argumentsOf(const FindQuestion& question) {
    return QStringList{question.command, "--spec", kInput} + question.options + QStringList{"--json", "--events"};
}

QByteArray inputOf(const FindQuestion& question) { return QJsonDocument(question.spec).toJson(QJsonDocument::Compact); }

QString commandOf(const FindQuestion& question, const QJsonObject& defaults) {
    auto settings = settingsOfSpec(question.spec);
    std::erase_if(settings, [](const Setting& each) { return !matters(each); });
    QStringList words{question.command};
    for (const std::string& each : trainArguments(settings, settingsOfSpec(defaults)))
        words << QString::fromStdString(each);
    return commandLine(words + question.options);
}

}  // namespace lockstep::ui
